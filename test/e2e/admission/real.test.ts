import { createServer } from "node:https";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { admissionHandler } from "../../../functions/admission.ts";
import { admissionPath } from "../../../lib/admission/admission-path.ts";
import { servedKind } from "../../../lib/api/kinds/declaration.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { isJsonObject } from "../../../lib/core/json.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { Look } from "../../../lib/core/ports/wake-ups.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { checkedName, installWebhook, webhookAnswers } from "../../../lib/definitions/admission-webhook.ts";
import { installCrds } from "../../../lib/definitions/install-crds.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { type ClusterUnderTest } from "../../contract/cluster/cluster-under-test.ts";
import { connectUnderTest } from "../../contract/cluster/connect-under-test.ts";
import { deadlineMs } from "../../deadline.ts";
import { closeServer } from "../../doubles/close-server.ts";
import { pem } from "../../doubles/pem.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { mayHaveOwnControlPlane, type OwnControlPlane, ownControlPlane } from "../../real/own-control-plane.ts";

const { signal } = new AbortController();
const secret = new Secret("0123456789abcdef".repeat(4));
const id = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
const fluxGroup = "kustomize.toolkit.fluxcd.io";
const labels = { "reconcile.fluxcd.io/watch": "Enabled" };

const kustomization = (name: string, interval = "10m"): Manifest => ({
  apiVersion: `${fluxGroup}/v1`,
  kind: "Kustomization",
  metadata: { name, namespace: "default" },
  spec: { interval, prune: true, sourceRef: { kind: "OCIRepository", name } },
});
const configMap = (name: string, of: object, value = "v"): Manifest => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default", ...of },
  data: { k: value },
});
const keyOf = (kind: string, name: string) => {
  const group = kind === "Kustomization" ? fluxGroup : "";
  return formatWorkKey({ cluster: id, group, kind, namespace: "default", name });
};

describe.skipIf(!mayHaveOwnControlPlane())("with SLUICE_REAL_KUBECONFIG, the API server calls the webhook", () => {
  const ending = new AsyncDisposableStack();
  let admin: ClusterUnderTest;
  let webhook: Parameters<typeof installWebhook>[1];
  const sent: Look[] = [];
  let answer: "at once" | "never" = "at once";
  let calls = 0;
  /** How long the API server was to wait for the last call. */
  let waits: string | null = null;
  const owner = { resource: "test", version: "0.2.0" };
  /** A webhook that does answer may need more than its second on a busy machine. */
  const patientCluster: Parameters<typeof installWebhook>[0] = {
    apply: (manifest, ...rest) => {
      const webhooks = Array.isArray(manifest["webhooks"]) ? manifest["webhooks"].filter(isJsonObject) : [];
      const patient = webhooks.map((each) => ({ ...each, timeoutSeconds: 30 }));
      return admin.cluster.apply({ ...manifest, webhooks: patient }, ...rest);
    },
  };

  beforeAll(async () => {
    const plane: OwnControlPlane = await ownControlPlane();
    ending.use(plane);
    admin = await connectUnderTest(plane.adminKubeconfig);
    ending.defer(() => admin.close());
    await installCrds(admin.cluster, { clock: systemClock, log: silentLog }, signal);
    const handle = admissionHandler({
      secret,
      kinds: [...declaredKinds.map(servedKind), { group: "", kind: "ConfigMap" }, { group: "", kind: "Secret" }],
      looks: { send: async (look) => void sent.push(look) },
      ...{ metrics: recordedMetrics(), clock: systemClock, log: silentLog },
    });
    const [cert, key] = await Promise.all([pem("server.crt"), pem("server.key")]);
    const server = createServer({ cert, key }, (request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        calls += 1;
        // The API server says in the query how long it waits; a function URL's path comes without it.
        const { pathname, searchParams } = new URL(request.url ?? "", "https://127.0.0.1");
        waits = searchParams.get("timeout");
        if (answer === "never") return;
        const call = { method: request.method ?? "", path: pathname, body: Buffer.concat(parts) };
        void handle(call, signal).then(({ status, type, body }) => {
          response.writeHead(status, { "content-type": type }).end(body);
        });
      });
    });
    const port = await portOnLoopback(server);
    ending.defer(() => closeServer(server));
    const url = `https://127.0.0.1:${port}${admissionPath(secret, id)}`;
    const caBundle = Buffer.from(cert).toString("base64");
    webhook = { url, caBundle, configSelector: "reconcile.fluxcd.io/watch=Enabled" };
    await installWebhook(patientCluster, webhook, owner, signal);
    // The API server goes by the new configuration a moment later.
    const isCalled = async () => {
      if (!(await check()).includes(webhookAnswers)) throw new Error("the webhook is not called yet");
    };
    await vi.waitFor(isCalled, { timeout: deadlineMs, interval: 100 });
  });
  afterAll(() => ending.disposeAsync());
  beforeEach(() => {
    sent.length = 0;
    calls = 0;
    answer = "at once";
  });

  const apply = (manifest: Manifest, dryRun = false) =>
    admin.cluster.apply(manifest, { manager: "kubectl", force: true, dryRun }, signal);
  const remove = (kind: string, group: string, name: string) =>
    admin.cluster.delete(
      { group, version: "v1", kind, namespace: "default", name },
      { propagation: "Background" },
      signal,
    );
  const check = async () => (await apply(kustomization(checkedName), true)).warnings;

  /**
   * The last look that the webhook sent for a change. The API server may call the webhook twice for one update: first with the old
   * object from its cache, and then with the newer one from etcd, where its cache was behind.
   */
  const lastOf = async (change: () => Promise<unknown>): Promise<Look | undefined> => {
    sent.length = 0;
    await change();
    expect(new Set(sent.map(({ key }) => key)).size).toBeLessThanOrEqual(1);
    return sent.at(-1);
  };

  test("for a Kustomization that is created, changed and deleted, with its old state", async () => {
    const key = keyOf("Kustomization", "web");
    let version: string | undefined;
    let uid: string | undefined;
    const write = (interval: string) => async () => {
      const { metadata } = (await apply(kustomization("web", interval))).object;
      [uid, version] = [metadata.uid, metadata.resourceVersion];
    };
    expect(await lastOf(write("10m"))).toEqual({ key, tries: 0 });
    for (const change of [write("20m"), write("30m"), () => remove("Kustomization", fluxGroup, "web")]) {
      const before = { uid, resourceVersion: version };
      expect(await lastOf(change)).toEqual({ key, tries: 0, before });
    }
  });

  test("for a labelled ConfigMap, also when it gets and loses the label, and for no other", async () => {
    await apply(configMap("plain", {}));
    await apply(configMap("vars", {}));
    expect([calls, sent]).toEqual([0, []]);
    const key = keyOf("ConfigMap", "vars");
    for (const [of, value] of [[{ labels }, "v"] as const, [{ labels }, "w"] as const, [{}, "w"] as const]) {
      expect(await lastOf(() => apply(configMap("vars", of, value)))).toMatchObject({ key });
    }
    const asked = calls;
    await remove("ConfigMap", "", "vars");
    expect(calls).toBe(asked);
  });

  test("in a dry run, which sends no event, and sluice check reports that the webhook answers", async () => {
    await apply(kustomization("dry"), true);
    expect(await check()).toEqual([webhookAnswers]);
    expect(calls).toBeGreaterThanOrEqual(2);
    expect(sent).toEqual([]);
  });

  test("and continues without it: a webhook that does not answer, or is missing, denies nothing", async () => {
    await installWebhook(admin.cluster, webhook, owner, signal);
    const untilItWaits = async () => {
      await check();
      return waits;
    };
    await expect.poll(untilItWaits, { interval: 100 }).toBe("1s");
    answer = "never";
    expect((await apply(kustomization("slow"))).created).toBe(true);
    expect(await check()).toEqual([]);
    const away = { ...webhook, url: webhook.url.replace(/:\d+\//, ":1/") };
    await installWebhook(admin.cluster, away, owner, signal);
    expect((await apply(kustomization("down"))).created).toBe(true);
    expect(sent).toEqual([]);
  });
});
