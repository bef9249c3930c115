import { findCondition } from "../../../lib/api/condition.ts";
import { parseKustomization } from "../../../lib/api/kustomization.ts";
import { canonicalJson } from "../../../lib/core/canonical-json.ts";
import { type Digest, digestOf } from "../../../lib/core/digest.ts";
import { Failure } from "../../../lib/core/failure.ts";
import { isJsonObject, type Json, type JsonObject, toJsonObject } from "../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import type { Cluster, WriteOptions } from "../../../lib/core/ports/cluster.ts";
import type { HistoryRecord } from "../../../lib/core/ports/history.ts";
import type { InventoryEntry } from "../../../lib/core/ports/inventory-store.ts";
import type { LogFields } from "../../../lib/core/ports/log.ts";
import type { Flow, FlowResult, Run } from "../../../lib/core/run.ts";
import { Secret } from "../../../lib/core/secret.ts";
import type { WorkKey } from "../../../lib/core/work-key.ts";
import type { KustomizationDeps } from "../../../lib/flows/kustomization/deps.ts";
import { kustomizationFlow } from "../../../lib/flows/kustomization/kustomization-flow.ts";
import { patientState } from "../../../lib/flows/patient-state.ts";
import { patiently } from "../../../lib/flows/patiently.ts";
import { reportOutage } from "../../../lib/flows/report-outage.ts";
import { carriesSecret } from "../../../lib/manifests/carries-secret.ts";
import { finishBuild } from "../../../lib/manifests/finish-build.ts";
import { checkedLease } from "../../doubles/checked-lease.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";
import { leaks, toldByObjects, withCanary } from "../canary.ts";
import { type Fault, faultyPort } from "./faulty-port.ts";
import { memoryState } from "./memory-state.ts";
import { type SkippingClock, skippingClock } from "./skipping-clock.ts";

interface Published {
  /** The annotations of the artifact, beside those of the one before; null takes one away. */
  readonly metadata?: Readonly<Record<string, string | null>>;
  /** The namespace of the source, which is made where there is none: that of the world by default. */
  readonly within?: string;
  /** The name of the source, which is made where it is not `repo`. */
  readonly source?: string;
  /** What each folder of the artifact holds, for Kustomizations that name one as their path: any other does not build. */
  readonly folders?: Readonly<Record<string, readonly Manifest[]>>;
}

/**
 * A namespace of a cluster with one source in it, and a Kustomization flow over state in memory: the cluster is real (the
 * embedded one or a control plane), the artifact is whatever manifests a test names.
 */
export interface World {
  readonly namespace: string;
  readonly cluster: Cluster;
  readonly signal: AbortSignal;
  /** Names what the next artifact holds, with the canary in its Secrets; the source shows it at once. Answers its revision. */
  publish(tag: string, manifests: readonly Manifest[], more?: Published): Promise<string>;
  /** Applies a Kustomization named `name` with this spec over the usual one. */
  kustomization(name: string, spec?: Readonly<Record<string, Json | undefined>>): Promise<void>;
  /** Merges this into a Kustomization. */
  patch(name: string, body: JsonObject, how: WriteOptions): Promise<void>;
  /** Deletes a Kustomization. */
  remove(name: string): Promise<void>;
  /** One run of its flow; the memo of the last is handed on. */
  run(name: string): Promise<FlowResult>;
  /** Runs of its flow as an installation has them, each when it is due, for as long as this. */
  outlast(name: string, ms: number): Promise<FlowResult>;
  get(kind: string, name: string, apiVersion?: string): Promise<LiveObject | undefined>;
  /** Status of a Kustomization; empty where there is none. */
  status(name: string): Promise<JsonObject>;
  /** Ready condition of a Kustomization as `status reason: message`. */
  ready(name: string): Promise<string>;
  events(name: string): Promise<readonly string[]>;
  inventory(name: string): Promise<readonly InventoryEntry[]>;
  /** Puts these in place of its inventory, as a state table does that is restored from an older backup. */
  restoreInventory(name: string, entries: readonly InventoryEntry[], savedUnder?: number): Promise<void>;
  readonly requested: string[];
  /** What was logged at level info, in order. */
  readonly logged: readonly LogFields[];
  /** What the artifacts hold, by digest: one that is taken out is gone from the store. */
  readonly stored: Map<string, readonly Manifest[]>;
  /** What a Kustomization listens to. */
  listensTo(name: string): readonly string[];
  /** The ends of its attempts, in order. */
  readonly remembered: readonly HistoryRecord[];
  /** What was measured, in order. */
  readonly measured: ReturnType<typeof recordedMetrics>["recorded"];
  readonly clock: SkippingClock;
  /** Where its runs have told the canary: statuses, events, logs, state and metrics. */
  leaks(): Promise<readonly string[]>;
  /** Called before and after every port call and before a build; throw to make it fail. Port calls wait for it. */
  fault: Fault;
  /** The installation's setting, for the runs from now on. */
  noCrossNamespaceRefs: boolean;
}

export async function world(cluster: Cluster, namespace: string): Promise<World> {
  const { signal } = new AbortController();
  const published = new Map<string, readonly Manifest[]>();
  const foldersOf = new Map<string, NonNullable<Published["folders"]>>();
  const memos = new Map<string, JsonObject>();
  const namespaces = new Set<string>();
  const guessable = new Set<string>();
  const clock = skippingClock();
  const beginNamespace = async (name: string): Promise<void> => {
    const manager = "test";
    await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } }, { manager }, signal);
    namespaces.add(name);
    await createSource("repo", name);
  };
  const createSource = async (name: string, within: string): Promise<void> => {
    const metadata = { name, namespace: within };
    const spec = { interval: "1h", url: "oci://127.0.0.1:1/repo" };
    const source = { apiVersion: "source.toolkit.fluxcd.io/v1", kind: "OCIRepository", metadata, spec };
    await cluster.apply(source, { manager: "test", force: true }, signal);
  };
  await beginNamespace(namespace);
  const key = (name: string): WorkKey => ({
    cluster: "test",
    group: "kustomize.toolkit.fluxcd.io",
    kind: "Kustomization",
    namespace,
    name,
  });
  const fault: Fault = (call) => self.fault(call);
  const state = memoryState(published, clock, fault);
  const metrics = recordedMetrics();
  const log = recordedLog();
  const memory: Omit<KustomizationDeps, "cluster" | "noCrossNamespaceRefs"> = {
    clock,
    log,
    metrics,
    installationKey: new Secret("test"),
    concurrency: 4,
    jitter: () => 0.5,
    ...state.ports,
    build: async ({ artifact: digest, archive, spec, owner }) => {
      await fault("build");
      if ((await archive()) === undefined) return undefined;
      const folder = spec.path === undefined ? published.get(digest) : foldersOf.get(digest)?.[spec.path];
      if (folder === undefined) throw new Failure("BuildFailed", `kustomization path not found: ${spec.path}`);
      const objects = folder.map(({ metadata, ...rest }) => {
        const placed = spec.targetNamespace === undefined ? metadata : { namespace: spec.targetNamespace, ...metadata };
        return toJsonObject({ ...rest, metadata: placed });
      });
      const manifests = finishBuild(objects, owner, spec.commonMetadata);
      for (const manifest of manifests) if (manifest.kind === "Secret") guessable.add(canonicalJson(manifest));
      return {
        manifests,
        digest: digestOf(canonicalJson(folder)),
        carriesSecret: carriesSecret(manifests, { files: new Map() }, spec),
      };
    },
  };
  const unsure = faultyPort("cluster", cluster, fault);
  /** The flow as one run has it, whose writes the cluster takes only under its lease. */
  const flowOf = (with_: Omit<KustomizationDeps, "cluster" | "noCrossNamespaceRefs">, reached: Cluster): Flow =>
    kustomizationFlow({ ...with_, cluster: reached, noCrossNamespaceRefs: self.noCrossNamespaceRefs });
  const once = (reached: Cluster): Flow => flowOf(memory, reached);
  const patient = (reached: Cluster): Flow =>
    patiently(flowOf({ ...memory, ...patientState(memory) }, reached), {
      clock,
      log,
      tell: (run, failure, wasTold) => reportOutage(run, failure, wasTold, { cluster: reached, clock }),
    });
  const get = (kind: string, name: string, apiVersion = "v1") => {
    const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    return cluster.get({ group: group ?? "", version: version ?? "", kind, namespace, name }, signal);
  };
  const kustomize = "kustomize.toolkit.fluxcd.io/v1";
  const runOf = async (flow: (reached: Cluster) => Flow, name: string): Promise<FlowResult> => {
    let lost: { readonly error: unknown } | undefined;
    const lease = checkedLease(() => {
      if (lost !== undefined) throw lost.error;
      // Nobody waits here: what a fault throws later holds from the next time on, as a lease does that is lost meanwhile.
      self.fault("assertLease")?.catch((error: unknown) => {
        lost = { error };
      });
    });
    const fence = await state.take(key(name));
    const run: Run = {
      key: key(name),
      signal,
      fence,
      assertLease: lease.assertLease,
      memo: memos.get(name),
      superseded: async () => false,
    };
    const result = await flow(lease.checked(unsure))(run);
    await state.drop(fence);
    memos.set(name, result.memo ?? {});
    return result;
  };
  const inventoryOwner = async (name: string) => {
    const uid = (await get("Kustomization", name, kustomize))?.metadata.uid ?? "";
    return { uid, clusterUid: await cluster.uid(signal) };
  };
  const self: World = {
    namespace,
    cluster,
    signal,
    requested: state.requested,
    logged: log.infos,
    stored: published,
    listensTo: (name) => state.listensTo(key(name)),
    measured: metrics.recorded,
    remembered: state.remembered,
    clock,
    fault: () => {},
    noCrossNamespaceRefs: false,
    publish: async (tag, plain, { metadata, within = namespace, source = "repo", folders: plainFolders } = {}) => {
      const manifests = plain.map(withCanary);
      const folders =
        plainFolders &&
        Object.fromEntries(Object.entries(plainFolders).map(([path, held]) => [path, held.map(withCanary)]));
      if (within !== namespace) await beginNamespace(within);
      if (source !== "repo") await createSource(source, within);
      const digest: Digest = digestOf(JSON.stringify([tag, manifests, folders]));
      published.set(digest, manifests);
      if (folders !== undefined) foldersOf.set(digest, folders);
      const revision = `${tag}@${digest}`;
      const artifact = {
        digest,
        revision,
        path: "p",
        url: "http://127.0.0.1/p",
        lastUpdateTime: "2026-01-01T00:00:00Z",
        metadata: { ...metadata },
      };
      const group = "source.toolkit.fluxcd.io";
      const ref = { group, version: "v1", kind: "OCIRepository", namespace: within, name: source };
      const body = { status: { artifact } };
      const { metadata: live } = await cluster.patch(
        ref,
        { type: "merge", body },
        { manager: "test", subresource: "status" },
        signal,
      );
      await state.record({ ...ref, cluster: "test" }, live.uid, digest);
      return revision;
    },
    kustomization: async (name, spec = {}) => {
      const usual = {
        interval: "10m",
        prune: true,
        targetNamespace: namespace,
        sourceRef: { kind: "OCIRepository", name: "repo" },
      };
      await cluster.apply(
        { apiVersion: kustomize, kind: "Kustomization", metadata: { name, namespace }, spec: { ...usual, ...spec } },
        { manager: "test", force: true },
        signal,
      );
    },
    patch: async (name, body, how) => {
      await cluster.patch({ ...key(name), version: "v1" }, { type: "merge", body }, how, signal);
    },
    remove: async (name) => {
      await cluster.delete({ ...key(name), version: "v1" }, { propagation: "Background" }, signal);
    },
    run: (name) => runOf(once, name),
    outlast: async (name, ms) => {
      const until = clock.now() + ms;
      for (;;) {
        const result = await runOf(patient, name);
        clock.advance(result.dueInMs ?? ms);
        if (clock.now() >= until) return result;
      }
    },
    get,
    status: async (name) => {
      const status: unknown = (await get("Kustomization", name, kustomize))?.["status"];
      return isJsonObject(status) ? status : {};
    },
    ready: async (name) => {
      const live = await get("Kustomization", name, kustomize);
      const ready = live && findCondition(parseKustomization(live).status.conditions ?? [], "Ready");
      return ready === undefined ? "none" : `${ready.status} ${ready.reason}: ${ready.message}`;
    },
    events: async (name) => {
      const found = await cluster.list({ group: "", version: "v1", kind: "Event", namespace }, signal);
      return found
        .filter(({ involvedObject }) => isJsonObject(involvedObject) && involvedObject["name"] === name)
        .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map((event) => `${String(event["type"])} ${String(event["reason"])}: ${String(event["message"])}`);
    },
    leaks: async () => {
      const kinds = [
        { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" },
        { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository" },
        { group: "", version: "v1", kind: "Event" },
      ];
      const queries = [...namespaces].flatMap((within) => kinds.map((kind) => ({ ...kind, namespace: within })));
      const objects = await Promise.all(queries.map((query) => cluster.list(query, signal)));
      const told = [
        ...toldByObjects(objects.flat()),
        { where: "the log", text: JSON.stringify(log.lines) },
        { where: "the state", text: state.text() },
        { where: "the memos", text: JSON.stringify([...memos]) },
        { where: "the metrics", text: JSON.stringify(metrics.recorded) },
      ];
      return leaks(told, [...guessable]);
    },
    inventory: async (name) => {
      const fence = await state.take(key(name));
      const entries = await state.inventories.load(await inventoryOwner(name), fence, signal);
      await state.drop(fence);
      return entries ?? [];
    },
    restoreInventory: async (name, entries, generation) => {
      const fence = await state.take(key(name));
      const owner = { ...(await inventoryOwner(name)), ...(generation === undefined ? {} : { generation }) };
      await state.inventories.save(owner, entries, fence, signal);
      await state.drop(fence);
    },
  };
  return self;
}
