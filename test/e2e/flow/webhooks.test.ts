import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { isJsonObject } from "../../../lib/core/json.ts";
import { installCrds } from "../../../lib/definitions/install-crds.ts";
import { type ConnectedCluster, connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { deadlineMs } from "../../deadline.ts";
import { closeServer } from "../../doubles/close-server.ts";
import { pem } from "../../doubles/pem.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { removeWorlds } from "./remove-worlds.ts";
import { configMap } from "./sample-manifests.ts";
import { settle } from "./taking-along.ts";
import { type World, world } from "./world.ts";

const { signal } = new AbortController();
const file = process.env["SLUICE_REAL_KUBECONFIG"];
const prefix = `webhooks-${Date.now()}-`;
const group = "admissionregistration.k8s.io";
let worlds = 0;

type Verdict = { readonly allowed: boolean; readonly patch?: readonly object[] } | "never";

describe.skipIf(file === undefined)("a real control plane with a webhook (set SLUICE_REAL_KUBECONFIG)", () => {
  const ending = new AsyncDisposableStack();
  let cluster: ConnectedCluster;
  let url: string;
  let caBundle: string;
  let judge: (asked: { readonly name: string; readonly isDryRun: boolean }) => Verdict = () => ({ allowed: true });

  beforeAll(async () => {
    cluster = connect(await readKubeconfig({ file: file ?? "", env: {}, homeDir: "/" }), {
      clock: systemClock,
      env: {},
    });
    ending.defer(() => cluster.close());
    await installCrds(cluster, { clock: systemClock, log: silentLog }, signal);
    const [cert, key] = await Promise.all([pem("server.crt"), pem("server.key")]);
    const server = createServer({ cert, key }, (request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => answer(Buffer.concat(parts).toString(), response));
    });
    const port = await portOnLoopback(server);
    ending.defer(() => closeServer(server));
    url = `https://127.0.0.1:${port}/`;
    caBundle = Buffer.from(cert).toString("base64");
  });
  afterEach(() => {
    judge = () => ({ allowed: true });
  });
  afterAll(async () => {
    await removeWorlds(cluster, (name) => name.startsWith(prefix), signal);
    await ending.disposeAsync();
  });

  function answer(body: string, response: ServerResponse): void {
    const review: unknown = JSON.parse(body);
    const request = isJsonObject(review) && isJsonObject(review["request"]) ? review["request"] : {};
    const name = typeof request["name"] === "string" ? request["name"] : "";
    const verdict = judge({ name, isDryRun: request["dryRun"] === true });
    if (verdict === "never") return;
    const { allowed, patch } = verdict;
    const patched =
      patch === undefined
        ? {}
        : { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
    const status = { code: 403, message: "no such data here" };
    response.writeHead(200, { "content-type": "application/json" }).end(
      JSON.stringify({
        apiVersion: "admission.k8s.io/v1",
        kind: "AdmissionReview",
        response: { uid: request["uid"], allowed, ...patched, ...(allowed ? {} : { status }) },
      }),
    );
  }

  /** A world whose ConfigMaps the webhook judges, within as many seconds as the API server allows a webhook. */
  async function judged(
    kind: "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration",
    timeoutSeconds = 30,
  ): Promise<World> {
    const self = await world(cluster, `${prefix}${worlds++}`);
    const name = self.namespace;
    const configuration = {
      apiVersion: `${group}/v1`,
      kind,
      metadata: { name },
      webhooks: [
        {
          name: "policy.example.com",
          clientConfig: { url, caBundle },
          rules: [
            { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] },
          ],
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } },
          failurePolicy: "Fail",
          timeoutSeconds,
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    };
    await cluster.apply(configuration, { manager: "test", force: true }, signal);
    ending.defer(async () => {
      await cluster.delete({ group, version: "v1", kind, namespace: "", name }, { propagation: "Background" }, signal);
    });
    // The API server goes by the new configuration a moment later.
    let isCalled = false;
    judge = () => {
      isCalled = true;
      return { allowed: true };
    };
    const probe = { ...configMap("probe"), metadata: { name: "probe", namespace: name } };
    const ask = async () => {
      await cluster.apply(probe, { manager: "test", force: true, dryRun: true }, signal);
      if (!isCalled) throw new Error("the webhook is not called yet");
    };
    await vi.waitFor(ask, { timeout: deadlineMs, interval: 50 });
    return self;
  }

  const inventoried = async (self: World) => (await self.inventory("app")).map(({ id }) => id.split("_")[1]);

  test("that denies one object: nothing of the revision is written, and the denial is quoted", async () => {
    const self = await judged("ValidatingWebhookConfiguration");
    await self.publish("v1", [configMap("a")]);
    await self.kustomization("app");
    await self.run("app");
    judge = ({ name }) => ({ allowed: name !== "b" });
    await self.publish("v2", [configMap("b"), configMap("c")]);
    await self.run("app");
    expect(await self.ready("app")).toBe(
      `False ReconciliationFailed: ConfigMap/${self.namespace}/b dry-run failed: admission webhook "policy.example.com" denied the request: no such data here\n`,
    );
    expect(await self.get("ConfigMap", "c")).toBeUndefined();
    expect(await self.get("ConfigMap", "a")).toBeDefined();
    expect(await inventoried(self)).toEqual(["a"]);
  });

  test("that denies only the real apply: objects applied before are in the inventory, and nothing is pruned", async () => {
    const self = await judged("ValidatingWebhookConfiguration");
    await self.publish("v1", [configMap("a")]);
    await self.kustomization("app");
    await self.run("app");
    judge = ({ name, isDryRun }) => ({ allowed: isDryRun || name !== "c" });
    await self.publish("v2", [configMap("c")]);
    await self.run("app");
    expect(await self.ready("app")).toMatch(
      /^False ReconciliationFailed: ConfigMap\/\S+\/c apply failed: admission webhook "policy.example.com" denied the request: no such data here/,
    );
    expect(await self.get("ConfigMap", "a")).toBeDefined();
    judge = () => ({ allowed: true });
    await self.run("app");
    expect(await self.ready("app")).toMatch(/^True/);
    expect(await inventoried(self)).toEqual(["c"]);
    expect(await self.get("ConfigMap", "a")).toBeUndefined();
  });

  test("that hangs: the run reports it and is repeated, and nothing is lost", async () => {
    const self = await judged("ValidatingWebhookConfiguration", 1);
    await self.publish("v1", [configMap("a")]);
    await self.kustomization("app");
    // A second is short on a busy machine, for a webhook that does answer.
    await settle(self, "app");
    judge = () => "never";
    await self.publish("v2", [configMap("b")]);
    await self.run("app");
    expect(await self.ready("app")).toMatch(
      /^False ReconciliationFailed: ConfigMap\/\S+\/b dry-run failed \(InternalError\): Internal error occurred: failed calling webhook "policy.example.com"/,
    );
    expect(await inventoried(self)).toEqual(["a"]);
    judge = () => ({ allowed: true });
    await settle(self, "app");
    expect(await inventoried(self)).toEqual(["b"]);
  });

  test("that changes applied objects: the run ends, and later runs write nothing", async () => {
    const self = await judged("MutatingWebhookConfiguration");
    judge = () => ({
      allowed: true,
      patch: [
        { op: "replace", path: "/data/k", value: "by the webhook" },
        { op: "add", path: "/data/added", value: "by the webhook" },
      ],
    });
    await self.publish("v1", [configMap("a")]);
    await self.kustomization("app");
    await self.run("app");
    expect(await self.ready("app")).toMatch(/^True/);
    const first = await self.get("ConfigMap", "a");
    expect(first?.["data"]).toEqual({ k: "by the webhook", added: "by the webhook" });
    await self.run("app");
    await self.run("app");
    const last = await self.get("ConfigMap", "a");
    expect(last?.metadata.resourceVersion).toBe(first?.metadata.resourceVersion);
  });
});
