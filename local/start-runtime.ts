import { limitsOf } from "../functions/cluster-limits.ts";
import { ingestHandler } from "../functions/ingest.ts";
import { lookAtObject } from "../functions/look-at-object.ts";
import { type Flows, flowsOfClusters } from "../functions/make-flows.ts";
import { type Receive, receiveWebhooks } from "../functions/receiver.ts";
import { reconcileHandler } from "../functions/reconcile.ts";
import { runnerDeps } from "../functions/runner-deps.ts";
import { sweepHandler, wakeOverdue } from "../functions/sweep.ts";
import { clusterSweep } from "../functions/sweep-cluster.ts";
import { servedKind } from "../lib/api/kinds/declaration.ts";
import type { Cel } from "../lib/cel/cel.ts";
import { messageOf } from "../lib/core/failure.ts";
import { defaultGates, type FeatureGates } from "../lib/core/feature-gates.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { ReconcileRequests } from "../lib/core/ports/reconcile-requests.ts";
import type { Kind } from "../lib/flows/kinds/kind.ts";
import type { Clusters, ServedCluster } from "../lib/gate/served-clusters.ts";
import { logMetrics } from "../lib/process/write-log.ts";
import { configKinds, externalArtifactKinds } from "../lib/queue/observed-kinds.ts";
import { reconcileRequests } from "../lib/queue/request-reconcile.ts";
import { rules } from "../lib/queue/rules.ts";
import { Shutdown } from "../lib/queue/run-under-lease.ts";
import { voidLeases } from "../lib/queue/sweep.ts";
import { type Authentications, authentications } from "../lib/receiver/authenticate.ts";
import { secretCache } from "../lib/receiver/secret-cache.ts";
import { readSecretValues } from "../lib/receiver/secret-values.ts";
import { rememberingUnknown } from "../lib/receiver/unknown-paths.ts";
import { parseReceiptHandle } from "./aws-events.ts";
import { startFeeder } from "./feeder.ts";
import { queuedLookRequests, queuedSweepRequests, queuedWakeUps } from "./state/message-queue.ts";
import type { Stores } from "./state/open-stores.ts";
import { watchResources } from "./watch-resources.ts";

/** Reconciles at the same time in one cluster: one that does not answer must not take the places of the others. */
const concurrency = 8;
/** After this time the process ends without waiting for runs that were told to stop. */
const stopWithinMs = 4_000;

export interface RuntimeOptions {
  readonly stores: Stores;
  /** How many clusters it will serve. Until it does, the wake-ups of others stay in the queue: they may be of one that comes. */
  readonly clusterCount: number;
  readonly kinds: readonly Kind[];
  /** The ConfigMaps and Secrets whose changes start runs of those that subscribe to them; undefined for none. */
  readonly configSelector: string | undefined;
  /** The defaults if undefined. */
  readonly gates?: FeatureGates;
  /** The flows for the objects of a cluster. */
  readonly flows: (cluster: ServedCluster, requests: ReconcileRequests) => Flows;
  readonly cel: Cel;
  /** Who may send deliveries to Receivers, by type. Default: the types that need no issuer. */
  readonly authentications?: Authentications;
  readonly registryHosts: (account: string, region: string) => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

/** A cluster with the log of what happens in it. */
export type LoggedCluster = ServedCluster & { readonly log: Log };

export interface Runtime {
  /**
   * Begins with a cluster: looks at all its objects, then follows them, and from now on its wake-ups are handled. Resolves once it has
   * looked. Throws a `RangeError` for a cluster that is served already.
   */
  serve(cluster: LoggedCluster): Promise<void>;
  /** Answers a request to a webhook. */
  readonly receive: Receive;
  /** Takes an event in the shape of EventBridge. */
  ingest(event: unknown): Promise<void>;
  /** Hands every run back and starts no others; resolves within 5 s. */
  stop(): Promise<void>;
}

/** What Lambda and its event sources do, in this process: feeds the functions from the queue, a watch and a timer. */
export async function startRuntime(options: RuntimeOptions, signal: AbortSignal): Promise<Runtime> {
  const { stores, kinds, clock, log } = options;
  const served = new Map<string, ServedCluster>();
  const clusters: Pick<Clusters, "get"> = { get: (id) => served.get(id) };
  const stopped = new AbortController();
  const queueDeps = { items: stores.items, wakeUps: queuedWakeUps(stores.queue), clock, log, rules };
  // The holders of these leases are dead: this process has the folder's lock.
  const voided = await voidLeases(queueDeps, signal);
  if (voided > 0) log.info("leases of an earlier process voided", { leases: voided });

  const requests = reconcileRequests(queueDeps);
  const observedKinds = [
    ...kinds.map(servedKind),
    ...configKinds(options.configSelector, { subscriptions: stores.subscriptions, requests }),
    ...externalArtifactKinds(options.gates ?? defaultGates, { subscriptions: stores.subscriptions, requests }),
  ];
  const flowOf = flowsOfClusters(clusters, (cluster) => options.flows(cluster, requests));
  const observeDeps = { observed: stores.observed, requests, subscriptions: stores.subscriptions };
  const metrics = logMetrics(log);
  const ingest = ingestHandler({
    subscriptions: stores.subscriptions,
    observed: stores.observed,
    ...{ requests, metrics, log },
    registryHosts: options.registryHosts,
    isAdmitted: () => true,
  });
  // The feeder's places are the cap of a cluster, since there is one process.
  const maxRuns = (): number => Number.POSITIVE_INFINITY;
  const limits = limitsOf({ ...queueDeps, ...stores, clusters, metrics, maxRuns });
  const sweep = sweepHandler({
    ...queueDeps,
    clusters: () => [...served.keys()],
    limits,
    sweepRequests: queuedSweepRequests(stores.queue),
  });
  const sweepCluster = clusterSweep({
    ...observeDeps,
    ...{ clusters, clock, limits, log },
    kinds: observedKinds,
    sweepLeases: stores.sweepLeases,
  });
  const feeder = startFeeder({
    queue: stores.queue,
    placesOf: (cluster) => (served.has(cluster) || served.size >= options.clusterCount ? concurrency : 0),
    log,
    handler: reconcileHandler({
      ...runnerDeps(queueDeps, { clusters, deadLetters: stores.deadLetters, metrics, kinds }),
      clusters,
      limits,
      sweepCluster,
      lookAtObject: lookAtObject({
        ...observeDeps,
        ...{ clusters, clock, limits, log, kinds: observedKinds },
        looks: queuedLookRequests(stores.queue),
      }),
      metrics,
      flowOf,
      extendVisibility: async (handle, visibilityMs) => stores.queue.hide(parseReceiptHandle(handle), visibilityMs),
    }),
  });
  const background = [everyMinute((stop) => sweep({}, stop), { clock, log }, stopped.signal)];
  const receive = receiveWebhooks({
    receivers: rememberingUnknown(stores.receivers, clock),
    secretOf: secretCache(async ({ cluster, ...secret }, stop) => {
      const home = served.get(cluster)?.home;
      if (home === undefined) throw new Error(`cluster ${cluster} is not served yet`);
      return readSecretValues(home, secret, stop);
    }, clock),
    authentications: options.authentications ?? authentications,
    ...{ clock, log, requests },
    cel: options.cel,
  });
  return {
    receive,
    ingest: (event) => ingest(event, stopped.signal),
    async serve(cluster) {
      const { id, home, log: clusterLog } = cluster;
      if (served.has(id)) throw new RangeError(`cluster ${id} is served already`);
      served.set(id, cluster);
      feeder.look();
      const deps = { ...observeDeps, cluster: home, clusterId: id, clock, log: clusterLog };
      // As the schedule does every minute, and at once.
      await sweepCluster(id, stopped.signal);
      await wakeOverdue({ ...queueDeps, limits }, [id], stopped.signal).catch((error: unknown) => {
        if (!stopped.signal.aborted) clusterLog.warn("sweep not finished", { error: messageOf(error) });
      });
      for (const kind of observedKinds) background.push(watchResources(kind, deps, stopped.signal));
    },
    async stop() {
      const reason = new Shutdown("the process ends");
      stopped.abort(reason);
      const ended = Promise.all([feeder.stop(reason), ...background]);
      const timer = new AbortController();
      const tooLong = clock.sleep(stopWithinMs, timer.signal).then(
        () => log.warn("runs not ended in time, the next start takes them over", { stopWithinMs }),
        () => undefined,
      );
      await Promise.race([ended, tooLong]);
      timer.abort();
    },
  };
}

const intervalMs = 60_000;

/** Calls `work` a minute after its last call has ended; logs its failures. */
export async function everyMinute(
  work: (signal: AbortSignal) => Promise<void>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const isStopped = (): boolean => signal.aborted;
  while (!isStopped()) {
    try {
      await clock.sleep(intervalMs, signal);
      await work(signal);
    } catch (error) {
      if (error !== signal.reason) log.warn("sweep not finished", { error: messageOf(error) });
    }
  }
}
