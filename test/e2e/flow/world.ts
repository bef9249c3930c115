import type { Json, JsonObject } from "../../../lib/core/json.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { Cluster, WriteOptions } from "../../../lib/core/ports/cluster.ts";
import type { HistoryRecord } from "../../../lib/core/ports/history.ts";
import type { HttpError } from "../../../lib/core/ports/http.ts";
import type { InventoryEntry } from "../../../lib/core/ports/inventory-store.ts";
import type { Claim } from "../../../lib/core/ports/ledger.ts";
import type { LogFields } from "../../../lib/core/ports/log.ts";
import type { FlowResult, Run } from "../../../lib/core/ports/run.ts";
import type { Subscriptions } from "../../../lib/core/ports/subscriptions.ts";
import type { WorkKey } from "../../../lib/core/work-key.ts";
import { checkedLease } from "../../doubles/checked-lease.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";
import { toldRelations } from "../../doubles/told-relations.ts";
import { leaks } from "../canary.ts";
import { type Fault, faultyPort } from "./faulty-port.ts";
import { memoryState } from "./memory-state.ts";
import { type PublishedArtifacts, publishedArtifacts } from "./published-artifacts.ts";
import { type SkippingClock, skippingClock } from "./skipping-clock.ts";
import { flowsOf, type MakeFlow } from "./world-flow.ts";
import { kustomizeVersion, toldIn, type WorldReads, worldReads } from "./world-reads.ts";
import { usualSettings, type WorldSettings } from "./world-settings.ts";

/**
 * A namespace of a cluster with one source in it, and a Kustomization flow over state in memory: the cluster is real (the
 * embedded one or a control plane), the artifact is whatever manifests a test names.
 */
export interface World
  extends WorldSettings,
    Pick<PublishedArtifacts, "publish" | "publishArchive" | "publishFiles">,
    Omit<WorldReads, "kustomization"> {
  readonly namespace: string;
  readonly cluster: Cluster;
  /** The cluster with the rights of another user. */
  readonly as: (user: string) => Cluster;
  readonly signal: AbortSignal;
  /** Applies a Kustomization named `name` with this spec over the usual one. */
  kustomization(name: string, spec?: Readonly<Record<string, Json | undefined>>): Promise<void>;
  /** Merges this into a Kustomization. */
  patch(name: string, body: JsonObject, how: WriteOptions): Promise<void>;
  /** Deletes a Kustomization. */
  remove(name: string): Promise<void>;
  /** One run of its flow; what the last one carries over is handed on. */
  run(name: string): Promise<FlowResult>;
  /** The same for a run that nothing has asked for: it was due. */
  runDue(name: string): Promise<FlowResult>;
  /** Runs of its flow as an installation has them, each when it is due, for as long as this. */
  outlast(name: string, ms: number): Promise<FlowResult>;
  inventory(name: string): Promise<readonly InventoryEntry[]>;
  /** Another owner claims an object, as its own run does. */
  claim(claim: Claim): Promise<void>;
  /** Another object subscribes to a topic, as its own run does. */
  subscribe(follower: WorkKey, topic: string): Promise<void>;
  /** Loses all that is kept beside the cluster: inventories, claims, subscriptions, what runs carry over. */
  loseState(): void;
  /** Puts these in place of its inventory, as a state table does that is restored from an older backup. */
  restoreInventory(name: string, entries: readonly InventoryEntry[], savedUnder?: number): Promise<void>;
  readonly requested: string[];
  /** What was logged at level info, in order. */
  readonly logged: readonly LogFields[];
  /** The reasons of the events that Alerts were told of, in order. */
  readonly told: string[];
  /** What the events of runs have to do with other objects, in order. */
  readonly relations: string[];
  /** What the artifacts hold, by digest: one that is taken out is gone from the store. */
  readonly stored: Map<string, readonly Manifest[]>;
  /** What servers of artifacts answer, by URL: the file, a status or no answer; 404 for others. */
  readonly served: Map<string, Uint8Array | number | HttpError>;
  /** What a Kustomization listens to. */
  subscriptionsOf(name: string): readonly string[];
  /** Who listens to a topic. */
  readonly subscriptions: Pick<Subscriptions, "subscribers">;
  /** The ends of its attempts, in order. */
  readonly remembered: readonly HistoryRecord[];
  /** What was measured, in order. */
  readonly measured: ReturnType<typeof recordedMetrics>["recorded"];
  readonly clock: SkippingClock;
  /** Where its runs have shown the canary: statuses, events, logs, state and metrics. */
  leaks(): Promise<readonly string[]>;
}

/** @param as the cluster with the rights of another user, for stories of service accounts */
export async function world(
  cluster: Cluster,
  namespace: string,
  as: (user: string) => Cluster = () => {
    throw new Error("this world has no other users");
  },
): Promise<World> {
  const { signal } = new AbortController();
  const stored: World["stored"] = new Map();
  const served: World["served"] = new Map();
  const carried = new Map<string, JsonObject>();
  const clock = skippingClock();
  const settings = usualSettings();
  const fault: Fault = (call) => settings.fault(call);
  const key = (name: string): WorkKey => ({
    cluster: "test",
    group: "kustomize.toolkit.fluxcd.io",
    kind: "Kustomization",
    namespace,
    name,
  });
  const state = memoryState(stored, clock, fault);
  const metrics = recordedMetrics();
  const log = recordedLog();
  const told: string[] = [];
  const relations = toldRelations();
  const artifacts = publishedArtifacts({ cluster, namespace, stored, log, settings, state });
  await artifacts.beginNamespace(namespace);
  const { build } = artifacts;
  const { once, patient } = flowsOf({ clock, log, metrics, ports: state.ports, build, served, settings, as });
  const unsure = faultyPort("cluster", cluster, fault);
  const runOf = async (flow: MakeFlow, name: string, isRequested = true): Promise<FlowResult> => {
    let lost: { readonly error: unknown } | undefined;
    const lease = checkedLease(() => {
      if (lost !== undefined) throw lost.error;
      // Not awaited: an error that a fault throws later counts from the next call on, like a lease that is lost meanwhile.
      settings.fault("assertLease")?.catch((error: unknown) => {
        lost = { error };
      });
    });
    const fence = await state.take(key(name));
    const run: Run = {
      key: key(name),
      signal,
      fence,
      assertLease: lease.assertLease,
      carried: carried.get(name),
      isRequested,
      superseded: async () => false,
      events: {
        async tell(cluster, event, relation, stop) {
          told.push(event.reason);
          await relations.events.tell(cluster, event, relation, stop);
        },
      },
    };
    const reached = lease.checked(unsure);
    const target = settings.target === undefined ? reached : lease.checked(settings.target);
    const result = await flow(reached, target, (other) => lease.checked(other))(run);
    await state.drop(fence);
    carried.set(name, result.carried ?? {});
    return result;
  };
  const { kustomization: read, ...reads } = worldReads(cluster, namespace);
  const inventoryOwner = async (name: string) => {
    const uid = (await read(name))?.metadata.uid ?? "";
    return { uid, clusterUid: await (settings.target ?? cluster).uid(signal) };
  };
  return Object.assign(settings, {
    ...reads,
    namespace,
    cluster,
    as,
    signal,
    requested: state.requested,
    logged: log.infos,
    told,
    relations: relations.relations,
    stored,
    served,
    subscriptions: state.ports.subscriptions,
    subscriptionsOf: (name: string) => state.subscriptionsOf(key(name)),
    measured: metrics.recorded,
    remembered: state.remembered,
    clock,
    publish: artifacts.publish,
    publishFiles: artifacts.publishFiles,
    publishArchive: artifacts.publishArchive,
    kustomization: async (name: string, spec: Parameters<World["kustomization"]>[1] = {}) => {
      const usual = {
        interval: "10m",
        prune: true,
        targetNamespace: namespace,
        sourceRef: { kind: "OCIRepository", name: "repo" },
      };
      const metadata = { name, namespace };
      await cluster.apply(
        { apiVersion: kustomizeVersion, kind: "Kustomization", metadata, spec: { ...usual, ...spec } },
        { manager: "test", force: true },
        signal,
      );
    },
    patch: async (name: string, body: JsonObject, how: WriteOptions) => {
      await cluster.patch({ ...key(name), version: "v1" }, { type: "merge", body }, how, signal);
    },
    remove: async (name: string) => {
      await cluster.delete({ ...key(name), version: "v1" }, { propagation: "Background" }, signal);
    },
    run: (name: string) => runOf(once, name),
    runDue: (name: string) => runOf(once, name, false),
    outlast: async (name: string, ms: number) => {
      const until = clock.now() + ms;
      for (;;) {
        const result = await runOf(patient, name);
        clock.advance(result.dueInMs ?? ms);
        if (clock.now() >= until) return result;
      }
    },
    leaks: async () => {
      const told = [
        ...(await toldIn(artifacts.namespaces, cluster)),
        { where: "the log", text: JSON.stringify(log.lines) },
        { where: "the state", text: state.text() },
        { where: "what runs carry over", text: JSON.stringify([...carried]) },
        { where: "the metrics", text: JSON.stringify(metrics.recorded) },
      ];
      return leaks(told, [...artifacts.secrets]);
    },
    inventory: async (name: string) => {
      const fence = await state.take(key(name));
      const entries = await state.inventories.load(await inventoryOwner(name), fence, signal);
      await state.drop(fence);
      return entries ?? [];
    },
    claim: async (claim: Claim) => {
      const fence = await state.take(key("another-owner"));
      await state.ports.ledger.claim(await (settings.target ?? cluster).uid(signal), [claim], fence, signal);
      await state.drop(fence);
    },
    subscribe: async (follower: WorkKey, topic: string) =>
      state.ports.subscriptions.subscribe([topic], await state.take(follower), signal),
    loseState: () => {
      state.lose();
      carried.clear();
    },
    restoreInventory: async (name: string, entries: readonly InventoryEntry[], generation?: number) => {
      const fence = await state.take(key(name));
      const owner = { ...(await inventoryOwner(name)), ...(generation === undefined ? {} : { generation }) };
      await state.inventories.save(owner, entries, fence, signal);
      await state.drop(fence);
    },
  });
}
