import { describe, expect, test } from "vitest";
import type { HelmReleaseSpec } from "../../../lib/api/helm-release-spec.ts";
import type { ReleaseSnapshot } from "../../../lib/api/helm-release-status.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { asTarget } from "../../../lib/core/ports/home-and-target.ts";
import { KubeconfigFault, type RemoteCluster } from "../../../lib/core/ports/remote-clusters.ts";
import type { FlowResult } from "../../../lib/core/ports/run.ts";
import { noTenant } from "../../../lib/core/tenant.ts";
import { configTopic } from "../../../lib/core/topics.ts";
import { withHelmMarks } from "../../../lib/flows/helm-release/actions/helm-marks.ts";
import type { HelmReleaseContext } from "../../../lib/flows/helm-release/attempt/context.ts";
import { endRelease } from "../../../lib/flows/helm-release/end.ts";
import { openRemoteTarget } from "../../../lib/flows/owner/remote-target.ts";
import { secretReleaseStore } from "../../../lib/helm/secret-release-store.ts";
import { fileCluster } from "../../doubles/file-cluster.ts";
import { partOf } from "../../doubles/part-of.ts";
import { type ActionScene, actionScene } from "./action-scene.ts";
import { jsonEngine } from "./json-engine.ts";

const { signal } = new AbortController();
const embedded = fileCluster({ controllers: false });
let scenes = 0;

interface Scene extends ActionScene {
  /** What the kubeconfig leads to: opened anew in each run. */
  opened: () => Promise<RemoteCluster>;
}

const kubeConfig = { kubeConfig: { secretRef: { name: "remote" } } };
const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: "b" } };
const chartVersion = "source.toolkit.fluxcd.io/v1";

/** A HelmRelease with a deployed release of one object in the cluster that its kubeconfig leads to, and with a HelmChart of its own. */
async function deployed(): Promise<Scene> {
  const helm = jsonEngine();
  const scene = await actionScene(embedded.cluster, `end-${scenes++}`, helm);
  const { namespace } = scene;
  const whole = Object.assign(scene, { opened: async () => remote("there") });
  await scene.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "remote" }, stringData: { value: "any" } });
  await scene.apply(withHelmMarks(object, { name: "app", namespace }));
  const labels = { "helm.toolkit.fluxcd.io/name": "app", "helm.toolkit.fluxcd.io/namespace": namespace };
  const spec = { chart: "app", interval: "1h", sourceRef: { kind: "HelmRepository", name: "charts" } };
  await scene.apply({ apiVersion: chartVersion, kind: "HelmChart", metadata: { name: "chart", labels }, spec });
  const { cluster } = embedded;
  const store = secretReleaseStore(
    { name: "app", storageNamespace: namespace },
    { cluster, clock: scene.clock, helm, tenant: noTenant },
  );
  const revision = scene.recordOf({ objects: [{ manifest: object, template: "app/templates/all.yaml" }] });
  await store.create(revision, undefined, signal);
  const snapshot: ReleaseSnapshot = {
    ...{ apiVersion: "v2", digest: "sha256:record", name: "app", namespace, version: 1, status: "deployed" },
    ...{ action: "install", chartName: "app", chartVersion: "1.0.0", appVersion: "1.0" },
    ...{ ociDigest: "", configDigest: "sha256:config" },
    ...{ firstDeployed: "2026-11-24T16:00:00Z", lastDeployed: "2026-11-24T16:00:00Z" },
  };
  const id = `${namespace}_a__ConfigMap`;
  scene.setStatus({
    ...{ storageNamespace: namespace, history: [snapshot], helmChart: `${namespace}/chart` },
    inventory: { entries: [{ id, v: "v1" }] },
  });
  const { deps, owner, run } = await scene.context();
  const there = { ...owner, clusterUid: "unread:there" };
  await deps.inventories.save(there, [{ id, version: "v1", state: "live" }], run.fence, run.signal);
  return whole;
}

/** The same API server under another name: what it stands for is known by that alone. */
const remote = (name: string): RemoteCluster =>
  partOf<RemoteCluster>({ ...embedded.cluster, fallbackUid: `unread:${name}`, as: () => embedded.cluster });

async function run(
  scene: Scene,
  { spec = kubeConfig, carried }: { spec?: Partial<HelmReleaseSpec>; carried?: JsonObject | undefined } = {},
): Promise<FlowResult> {
  const ctx = await scene.context({ spec, ...(carried === undefined ? {} : { carried }) });
  const live = { ...ctx.live, spec: partOf<JsonObject>(spec) };
  const remoteClusters = { byKubeconfig: () => scene.opened(), byEks: () => scene.opened() };
  const accounts = {
    ...{ accountTokens: undefined, defaultKubeconfigAccount: "", gates: { ObjectLevelWorkloadIdentity: false } },
    ...{ defaultServiceAccount: "", remoteClusters, gated: asTarget },
  };
  const deps: HelmReleaseContext["deps"] = {
    ...ctx.deps,
    remoteTargetOf: (one, place, stop) => openRemoteTarget(one, place, accounts, stop),
  };
  return endRelease({ ...ctx, live, deps, remote: "closed", owner: { ...ctx.owner, clusterUid: "" } });
}

const told = (scene: Scene) => scene.events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
const condition = (scene: Scene, type: string) => scene.status().conditions?.find((one) => one.type === type);
const chartOf = (scene: Scene) => scene.get("HelmChart", "chart", chartVersion);

describe("the deletion of a HelmRelease with spec.kubeConfig", () => {
  test("uninstalls its release there", async () => {
    const scene = await deployed();

    expect(await run(scene)).toEqual({ outcome: "deleted", dueInMs: undefined });
    expect(await scene.get("ConfigMap", "a")).toBeUndefined();
    expect(await chartOf(scene)).toBeUndefined();
    expect(await scene.isHeld()).toBe(false);
    expect(told(scene)).toEqual([
      `Normal UninstallSucceeded: Helm uninstall succeeded for release ${scene.namespace}/app.v1 with chart app@1.0.0`,
      `Normal HelmChartDeleted: deleted HelmChart '${scene.namespace}/chart'`,
    ]);
  });

  test.each([
    {
      what: "its kubeconfig is invalid",
      error: () => new KubeconfigFault("error loading config file: it is none"),
      why: "error loading config file: it is none",
    },
    {
      what: "its credential is refused",
      error: () => new ApiError({ code: 401, reason: "Unauthorized", message: "no such user" }),
      why: "no such user",
    },
    {
      what: "its server does not answer",
      error: () => new ApiError({ code: 0, reason: "Unreachable", message: "connect ECONNREFUSED" }),
      why: "connect ECONNREFUSED",
    },
  ])(
    "waits while $what, with one event that says why and how to give the release up, and uninstalls once that is fixed",
    async ({ error, why }) => {
      const scene = await deployed();
      const { namespace } = scene;
      scene.opened = async () => {
        throw error();
      };
      let carried: JsonObject | undefined;
      for (const dueInMs of [750, 1_500, 3_000]) {
        const result = await run(scene, { carried });
        expect(result).toMatchObject({ outcome: "failed", dueInMs });
        ({ carried } = result);
      }
      const message =
        `Helm uninstall failed for release ${namespace}/app.v1 with chart app@1.0.0: ${why}: this HelmRelease waits until the release can be ` +
        "uninstalled. Fix the Secret or ConfigMap of spec.kubeConfig; or, to leave the release where it is, suspend this HelmRelease: kubectl -n " +
        `${namespace} patch helmreleases.helm.toolkit.fluxcd.io app --type merge -p '{"spec":{"suspend":true}}'`;
      expect(condition(scene, "Ready")).toMatchObject({ status: "False", reason: "UninstallFailed", message });
      expect(condition(scene, "Released")).toMatchObject({ status: "False", reason: "UninstallFailed", message });
      expect(told(scene)).toEqual([`Warning UninstallFailed: ${message}`]);
      expect(await scene.isHeld()).toBe(true);
      expect(await scene.get("ConfigMap", "a")).toBeDefined();
      expect(await chartOf(scene)).toBeDefined();
      expect(scene.subscriptions()).toEqual([
        configTopic({ cluster: "test", kind: "Secret", namespace, name: "remote" }),
      ]);

      scene.opened = async () => remote("there");
      expect((await run(scene, { carried })).outcome).toBe("deleted");
      expect(await scene.get("ConfigMap", "a")).toBeUndefined();
    },
  );

  test("waits while its account may not read the release there", async () => {
    const scene = await deployed();
    const forbidden = () =>
      Promise.reject(new ApiError({ code: 403, reason: "Forbidden", message: "may not list secrets" }));
    scene.opened = async () => ({ ...remote("there"), listMetadata: forbidden });

    expect(await run(scene)).toMatchObject({ outcome: "failed", dueInMs: 750 });
    expect(condition(scene, "Ready")?.message).toContain(": may not list secrets: this HelmRelease waits");
    expect(await scene.isHeld()).toBe(true);
  });

  test("without its Secret gives the release up with its HelmChart, and events name what stays", async () => {
    const scene = await deployed();
    const { namespace } = scene;
    await scene.remove("Secret", "remote");

    expect((await run(scene)).outcome).toBe("deleted");
    expect(await scene.isHeld()).toBe(false);
    expect(await chartOf(scene)).toBeUndefined();
    expect(await scene.get("ConfigMap", "a")).toBeDefined();
    expect(told(scene)).toEqual([
      `Warning UninstallFailed: unable to read KubeConfig secret '${namespace}/remote' error: secrets "remote" not found: release ` +
        `${namespace}/app.v1 with chart app@1.0.0 is not uninstalled, and stays in its cluster`,
      `Normal HelmChartDeleted: deleted HelmChart '${namespace}/chart'`,
      `Warning TargetChanged: left in the cluster known as unread:there, where nothing is deleted: ConfigMap/${namespace}/a`,
    ]);
  });

  test("while it is suspended needs no cluster, and an event names what stays", async () => {
    const scene = await deployed();
    scene.opened = async () => {
      throw new Error("was opened");
    };

    expect((await run(scene, { spec: { ...kubeConfig, suspend: true } })).outcome).toBe("deleted");
    expect(await scene.isHeld()).toBe(false);
    expect(await scene.get("ConfigMap", "a")).toBeDefined();
    expect(told(scene)).toEqual([
      `Warning TargetChanged: left in the cluster known as unread:there, where nothing is deleted: ConfigMap/${scene.namespace}/a`,
    ]);
  });

  test("that never reached its cluster is deleted without one", async () => {
    const scene = await actionScene(embedded.cluster, `end-${scenes++}`);
    const opened = async () => {
      throw new KubeconfigFault("no kubeconfig");
    };

    expect((await run(Object.assign(scene, { opened }))).outcome).toBe("deleted");
    expect(scene.events).toEqual([]);
  });

  test("deletes nothing in another cluster that its kubeconfig points to now", async () => {
    const scene = await deployed();
    scene.opened = async () => remote("elsewhere");

    expect((await run(scene)).outcome).toBe("deleted");
    expect(await scene.get("ConfigMap", "a")).toBeDefined();
    expect(await scene.get("Secret", "sh.helm.release.v1.app.v1")).toBeDefined();
    expect(told(scene)).toContain(
      `Warning TargetChanged: left in the cluster known as unread:there, where nothing is deleted: ConfigMap/${scene.namespace}/a`,
    );
  });
});
