import type { HelmReleaseSpec } from "../../../lib/api/helm-release-spec.ts";
import type { HelmReleaseStatus } from "../../../lib/api/helm-release-status.ts";
import { finalizer } from "../../../lib/api/names.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import type { HelmEngine, Hook, ObservedRelease, ReleaseRecord } from "../../../lib/core/ports/helm-engine.ts";
import { asHome, asTarget } from "../../../lib/core/ports/home-and-target.ts";
import type { Run } from "../../../lib/core/ports/run.ts";
import { Secret } from "../../../lib/core/secret.ts";
import type { WorkKey } from "../../../lib/core/work-key.ts";
import type { HelmReleaseContext, HelmReleaseDeps } from "../../../lib/flows/helm-release/attempt/context.ts";
import { defaultTiming } from "../../../lib/flows/interval.ts";
import type { EventToRecord } from "../../../lib/flows/record-event.ts";
import type { AttemptMark } from "../../../lib/helm/release-store.ts";
import { partOf } from "../../doubles/part-of.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { type Fault, faultyPort } from "../flow/faulty-port.ts";
import { memoryState } from "../flow/memory-state.ts";
import { type SkippingClock, skippingClock } from "../flow/skipping-clock.ts";
import { jsonEngine, jsonRecord } from "./json-engine.ts";
import { type MemoryReleases, memoryReleases } from "./memory-releases.ts";

/** A HelmRelease `app` in a namespace of its own, for tests of one action: its records are in memory, its objects in a cluster. */
export interface ActionScene {
  readonly namespace: string;
  readonly clock: SkippingClock;
  readonly releases: MemoryReleases;
  /** The same, with the faults of the scene. */
  readonly store: MemoryReleases;
  readonly events: readonly EventToRecord[];
  /** What was created, deleted and patched through the context, in order. */
  readonly writes: readonly string[];
  fault: Fault;
  /** A context as a run has it. */
  context(options?: {
    readonly spec?: Partial<HelmReleaseSpec>;
    readonly carried?: JsonObject;
  }): Promise<HelmReleaseContext>;
  /** Whether the finalizer is still on the object. */
  isHeld(): Promise<boolean>;
  status(): HelmReleaseStatus;
  setStatus(status: HelmReleaseStatus): void;
  get(kind: string, name: string, apiVersion?: string): Promise<LiveObject | undefined>;
  apply(manifest: Manifest): Promise<LiveObject>;
  /** A merge patch by another client. */
  patch(kind: string, name: string, body: JsonObject): Promise<void>;
  remove(kind: string, name: string): Promise<void>;
  forgetWrites(): void;
  /** What a Pod or Job has come to. */
  settle(kind: string, name: string, status: JsonObject): Promise<void>;
  /** Stores a revision. */
  put(observed: Partial<ObservedRelease>): Promise<void>;
  /** What a Secret holds for such a revision. */
  recordOf(observed: Partial<ObservedRelease>): ReleaseRecord;
  /** What the object listens to. */
  subscriptions(): readonly string[];
  /** Another object subscribes to a topic, as its own run does. */
  subscribe(follower: WorkKey, topic: string): Promise<void>;
  /** Which objects were asked to run, in order. */
  readonly requested: readonly string[];
  putRecord(record: ReleaseRecord, mark?: AttemptMark): Promise<void>;
}

const { signal } = new AbortController();
const standInVersion = "source.toolkit.fluxcd.io/v1";

/**
 * @param cluster without controllers
 * @param helm the engine of the records that are stored
 */
export async function actionScene(
  cluster: Cluster,
  namespace: string,
  helm: Pick<HelmEngine, "amend"> = jsonEngine(),
): Promise<ActionScene> {
  const clock = skippingClock();
  const releases = memoryReleases();
  const events: EventToRecord[] = [];
  const writes: string[] = [];
  let status: HelmReleaseStatus = {};
  const fault: Fault = async (call) => scene.fault(call);
  const state = memoryState(new Map(), clock, fault);
  const written = faultyPort("cluster", withWrites(cluster, writes), fault);
  await cluster.apply(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { manager: "test", force: true },
    signal,
  );
  const standIn = { name: "stands-for-the-helm-release", namespace, finalizers: [finalizer] };
  await cluster.apply(
    {
      apiVersion: standInVersion,
      kind: "OCIRepository",
      metadata: standIn,
      spec: { interval: "1h", url: "oci://a/b" },
    },
    { manager: "test", force: true },
    signal,
  );
  const key = { cluster: "test", group: "helm.toolkit.fluxcd.io", kind: "HelmRelease", namespace, name: "app" };
  const refOfKind = (kind: string, name: string, apiVersion: string) => {
    const [group = "", version = ""] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    return { group, version, kind, namespace, name };
  };
  const apiVersionOf = (kind: string) => (kind === "Job" ? "batch/v1" : kind === "Deployment" ? "apps/v1" : "v1");
  const scene: ActionScene = {
    namespace,
    clock,
    releases,
    store: faultyPort("store", releases, fault),
    events,
    writes,
    fault: () => {},
    context: async ({ spec = {}, carried } = {}) => {
      const uid = await cluster.uid(signal);
      const live = await cluster.get(refOfKind("OCIRepository", standIn.name, standInVersion), signal);
      if (live === undefined) throw new Error("the object is gone");
      const run: Run = {
        key,
        signal,
        fence: await state.take(key),
        assertLease: () => {},
        carried,
        isRequested: true,
        superseded: async () => false,
      };
      let own = status;
      const deps = partOf<HelmReleaseDeps>({
        ...{ home: asHome(written), clock, log: silentLog, jitter: () => 0.5, helm, concurrency: 4 },
        ...{ installationKey: new Secret("test"), applyRules: { overrideManagers: [] }, defaultServiceAccount: "" },
        ...{ timing: defaultTiming },
        ...state.ports,
      });
      return partOf<HelmReleaseContext>({
        live,
        release: {
          metadata: { ...live.metadata, name: "app", namespace },
          spec: { interval: "1h", ...spec },
          status,
        },
        ...{ name: "app", namespace, generation: 1, requestedAt: undefined },
        owner: { uid: live.metadata.uid, clusterUid: uid, generation: 1 },
        homeUid: uid,
        run,
        deps,
        home: asHome(written),
        target: asTarget(written),
        status: () => own,
        note: (next: HelmReleaseStatus) => {
          own = next;
        },
        write: async (next: HelmReleaseStatus) => {
          own = next;
          status = next;
        },
        record: (event: EventToRecord) => void events.push(event),
        eventsSent: async () => {},
      });
    },
    isHeld: async () =>
      (await cluster.get(refOfKind("OCIRepository", standIn.name, standInVersion), signal))?.metadata.finalizers
        ?.length === 1,
    status: () => status,
    setStatus: (next) => {
      status = next;
    },
    get: (kind, name, apiVersion = apiVersionOf(kind)) => cluster.get(refOfKind(kind, name, apiVersion), signal),
    apply: async (manifest) => {
      const placed = { ...manifest, metadata: { namespace, ...manifest.metadata } };
      return (await cluster.apply(placed, { manager: "test", force: true }, signal)).object;
    },
    patch: async (kind, name, body) => {
      await cluster.patch(
        refOfKind(kind, name, apiVersionOf(kind)),
        { type: "merge", body },
        { manager: "other" },
        signal,
      );
    },
    remove: async (kind, name) => {
      await cluster.delete(refOfKind(kind, name, apiVersionOf(kind)), { propagation: "Background" }, signal);
    },
    forgetWrites: () => writes.splice(0),
    settle: async (kind, name, to) => {
      const options = { manager: "kubelet", subresource: "status" };
      await cluster.patch(
        refOfKind(kind, name, apiVersionOf(kind)),
        { type: "merge", body: { status: to } },
        options,
        signal,
      );
    },
    putRecord: async (record, mark) => {
      await releases.create(record, mark, signal);
    },
    recordOf: (observed) => jsonRecord({ ...emptyRelease(namespace), ...observed }),
    put: async (observed) => {
      await releases.create(scene.recordOf(observed), undefined, signal);
    },
    subscriptions: () => state.subscriptionsOf(key),
    subscribe: async (follower, topic) =>
      state.ports.subscriptions.subscribe([topic], await state.take(follower), signal),
    requested: state.requested,
  };
  return scene;
}

function emptyRelease(namespace: string): ObservedRelease {
  return {
    ...{ name: "app", namespace, version: 1, status: "deployed", description: "Install complete", notes: "" },
    ...{ firstDeployed: "2026-11-24T16:00:00Z", lastDeployed: "2026-11-24T16:00:00Z", deleted: "" },
    ...{ chart: { name: "app", version: "1.0.0", appVersion: "1.0" }, applyMethod: "ssa", hooks: [], objects: [] },
    ...{ values: {}, configDigest: "sha256:config", digest: "sha256:record", ociDigest: "" },
  };
}

/** A hook of this object. */
export function hookOf(manifest: Manifest, hook: Partial<Hook> & Pick<Hook, "events">): Hook {
  const { name } = manifest.metadata;
  const usual = { name, kind: manifest.kind, path: `app/templates/${name}.yaml`, manifest, weight: 0 };
  return { ...usual, deletePolicies: [], lastRun: { phase: "" }, ...hook };
}

/** The cluster with a list of its writes. */
function withWrites(cluster: Cluster, writes: string[]): Cluster {
  return {
    ...cluster,
    resource: (query, stop) => cluster.resource(query, stop),
    apply: async (manifest, options, stop) => {
      const applied = await cluster.apply(manifest, options, stop);
      if (options.dryRun !== true) {
        writes.push(`${applied.created ? "created" : "applied"} ${manifest.kind}/${manifest.metadata.name}`);
      }
      return applied;
    },
    create: async (manifest, options, stop) => {
      writes.push(`created ${manifest.kind}/${manifest.metadata.name}`);
      return cluster.create(manifest, options, stop);
    },
    patch: async (ref, patch, options, stop) => {
      writes.push(`patched ${ref.kind}/${ref.name}`);
      return cluster.patch(ref, patch, options, stop);
    },
    delete: async (ref, options, stop) => {
      writes.push(`deleted ${ref.kind}/${ref.name}`);
      return cluster.delete(ref, options, stop);
    },
  };
}
