import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { auditLog } from "../../../bench/audit-log.ts";
import { CanaryStatus } from "../../../lib/api/canary.ts";
import { configHash } from "../../../lib/canary/revision/config-hash.ts";
import { templateHash } from "../../../lib/canary/revision/template-hash.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { startSluiceProcess } from "../../../local/sluice-process.ts";
import { deadlineMs } from "../../deadline.ts";
import { mayHaveOwnControlPlane, type OwnControlPlane, ownControlPlane } from "../../real/own-control-plane.ts";
import { builtFlagger, installFlaggerDefinitions, startFlagger } from "./start-flagger.ts";

const { signal } = new AbortController();
const built = await builtFlagger();
const missing = built === undefined || !mayHaveOwnControlPlane();
const needs = "needs SLUICE_FLAGGER, SLUICE_FLAGGER_CRDS and SLUICE_REAL_KUBECONFIG: test/interop/flagger/README.md";
const namespace = "default";
const waiting = { timeout: deadlineMs, interval: 200 };

describe.skipIf(missing)(
  `Flagger itself, on a control plane of its own, and Sluice${missing ? ` (${needs})` : ""}`,
  () => {
    const open = new AsyncDisposableStack();
    let plane: OwnControlPlane;
    let folder: string;
    let cluster: Cluster;

    beforeAll(async () => {
      plane = open.use(await ownControlPlane());
      folder = await mkdtemp(join(tmpdir(), "sluice-flagger-"));
      open.defer(() => rm(folder, { recursive: true, force: true }));
      const config = await readKubeconfig({ file: plane.adminKubeconfig, env: {}, homeDir: homedir() });
      const connected = connect(config, { clock: systemClock, env: {} });
      open.defer(() => connected.close());
      cluster = connected;
      if (built !== undefined) await installFlaggerDefinitions(built.crds, cluster, signal);
    });
    afterAll(() => open.disposeAsync());

    const flagger = async () => {
      if (built === undefined) throw new Error(needs);
      const log = join(folder, "flagger.log");
      return startFlagger({
        ...built,
        kubeconfig: plane.adminKubeconfig,
        namespace,
        log,
        flags: ["-mesh-provider=kubernetes"],
      });
    };
    const sluice = () =>
      startSluiceProcess(["--state", join(folder, "state"), "--kubeconfig", plane.kubeconfig], signal);
    const apply = (manifest: Manifest) => cluster.apply(manifest, { manager: "kubectl", force: true }, signal);
    const get = async (group: string, version: string, kind: string, name: string): Promise<LiveObject> => {
      const live = await cluster.get({ group, version, kind, namespace, name }, signal);
      if (live === undefined) throw new Error(`${kind}/${name} is gone`);
      return live;
    };
    const status = async (): Promise<CanaryStatus> =>
      CanaryStatus.parse((await get("flagger.app", "v1beta1", "Canary", "web"))["status"]);
    const released = async (tag: string): Promise<void> => {
      await vi.waitFor(async () => {
        const primary = await get("apps", "v1", "Deployment", "web-primary");
        expect(JSON.stringify(primary["spec"])).toContain(`"image":"web:${tag}"`);
        expect(await status()).toMatchObject({ phase: "Succeeded" });
      }, waiting);
    };
    /** All that a run changes; only the cluster's own controllers write statuses, and the annotation that is left out. */
    const present = async () => {
      const query = { namespace, version: "v1" };
      const workloads = cluster.list({ ...query, group: "apps", kind: "Deployment" }, signal);
      const others = ["Service", "ConfigMap"].map((kind) => cluster.list({ ...query, group: "", kind }, signal));
      const objects = (await Promise.all([workloads, ...others])).flat();
      return { status: await status(), objects: objects.map(withoutVersions) };
    };
    /** Flagger reads the Canary when a look begins, so the first look is over when the second one begins. */
    const flaggerHasLooked = async (since: number): Promise<void> => {
      const log = auditLog(plane.audit);
      await vi.waitUntil(async () => {
        const requests = await log.requests(since, "admin", []);
        return requests.filter((one) => one.startsWith("get ") && one.includes("/canaries/web")).length >= 2;
      }, waiting);
    };

    test("a Canary goes over to Sluice and back: neither begins a run of what the other has promoted, and each releases the next", async () => {
      await apply(settings("blue"));
      await apply(deployment("1"));
      await apply(canary);
      {
        await using _flagger = await flagger();
        await vi.waitFor(async () => expect(await status()).toMatchObject({ phase: "Initialized" }), waiting);
        await apply(deployment("2"));
        await released("2");
      }
      const byFlagger = await present();

      const over = await sluice();
      await vi.waitUntil(() => over.ends.some(({ key }) => key.kind === "Canary"), waiting);
      expect(await present()).toEqual(byFlagger);
      await apply(settings("green"));
      await apply(deployment("3"));
      await released("3");
      const bySluice = await present();
      expect(await over.stop()).toBe(0);
      const target = await get("apps", "v1", "Deployment", "web");
      expect(bySluice.status).toMatchObject({
        lastAppliedSpec: templateHash(templateOf(target)),
        lastPromotedSpec: templateHash(templateOf(target)),
        trackedConfigs: { "configmap/settings": configHash({ color: "green" }) },
      });

      const since = await auditLog(plane.audit).end();
      await using _flagger = await flagger();
      await flaggerHasLooked(since);
      expect(await present()).toEqual(bySluice);
      await apply(deployment("4"));
      await released("4");
    });

    test("a run in flight goes on where the other side has left it, and is not begun again", async () => {
      const seen: number[] = [];
      const until = (iterations: number) =>
        vi.waitUntil(async () => {
          const { iterations: now = 0, phase } = await status();
          if (phase === "Progressing") seen.push(now);
          return phase === "Progressing" && now >= iterations;
        }, waiting);
      await apply({ ...canary, spec: { ...canarySpec, skipAnalysis: false } });
      await apply(deployment("5"));
      {
        await using _flagger = await flagger();
        await until(1);
      }
      const over = await sluice();
      await until(2);
      expect(await over.stop()).toBe(0);
      await using _flagger = await flagger();
      await released("5");
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    });
  },
);

function withoutVersions({ metadata, status: _status, ...rest }: LiveObject): object {
  const { managedFields: _fields, resourceVersion: _version, annotations = {}, ...others } = metadata;
  const { "deployment.kubernetes.io/revision": _revision, ...kept } = annotations;
  return { ...rest, metadata: { ...others, annotations: kept } };
}

function templateOf(live: LiveObject): JsonObject {
  return z.object({ template: z.custom<JsonObject>() }).parse(live["spec"]).template;
}

const canarySpec = {
  provider: "kubernetes",
  targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  service: { port: 80 },
  skipAnalysis: true,
  analysis: { interval: "10s", threshold: 1, iterations: 3 },
};

const canary: Manifest = {
  apiVersion: "flagger.app/v1beta1",
  kind: "Canary",
  metadata: { name: "web", namespace },
  spec: canarySpec,
};

function settings(color: string): Manifest {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings", namespace }, data: { color } };
}

/** With quantities and a probe, whose Go types are the hard ones to hash. */
function deployment(tag: string): Manifest {
  const labels = { app: "web" };
  const container = {
    name: "web",
    image: `web:${tag}`,
    ports: [{ containerPort: 80 }],
    envFrom: [{ configMapRef: { name: "settings" } }],
    resources: { requests: { cpu: "250m", memory: "64Mi" }, limits: { memory: "0.5Gi" } },
    readinessProbe: { httpGet: { path: "/", port: 80 } },
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  };
}
