import { collectHandler } from "../functions/collect.ts";
import { composeReceiver } from "../functions/compose-receiver.ts";
import { composeReconcile } from "../functions/compose-reconcile.ts";
import { ingestHandler } from "../functions/ingest.ts";
import type { Flows } from "../functions/make-flows.ts";
import type { Receive } from "../functions/receiver.ts";
import { sweepHandler, wakeOverdue } from "../functions/sweep.ts";
import type { Cel } from "../lib/cel/cel.ts";
import { messageOf } from "../lib/core/failure.ts";
import { defaultGates, type FeatureGates } from "../lib/core/feature-gates.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { ReconcileRequests } from "../lib/core/ports/reconcile-requests.ts";
import { type Kind } from "../lib/flows/kinds/kind.ts";
import { type Clusters, type ServedCluster } from "../lib/gate/served-clusters.ts";
import type { ProviderType } from "../lib/notify/admits.ts";
import { type CommitStatusInput, type DeliverDeps, deliverNotifications } from "../lib/notify/deliver.ts";
import { dispatchEvents } from "../lib/notify/dispatch.ts";
import type { ListedAlerts } from "../lib/notify/listed-alerts.ts";
import type { ProviderParts } from "../lib/notify/provider.ts";
import { logMetrics } from "../lib/process/write-log.ts";
import { rules } from "../lib/queue/rules.ts";
import { Shutdown } from "../lib/queue/run-under-lease.ts";
import { voidLeases } from "../lib/queue/sweep.ts";
import { type Authentications, authentications } from "../lib/receiver/authenticate.ts";
import { parseReceiptHandle } from "./aws-events.ts";
import { startFeeder } from "./feeder.ts";
import { type Notifications, startNotifications } from "./notifications.ts";
import type { RecentNotifications } from "./recent-notifications.ts";
import { queuedLookRequests, queuedSweepRequests, queuedWakeUps } from "./state/message-queue.ts";
import type { Stores } from "./state/open-stores.ts";
import { watchKinds } from "./watch-kinds.ts";

/** Reconciles at the same time in one cluster, as by default in a deploy (`maxRuns`): one that does not answer must not take the places of others. */
const concurrency = 20;
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
  /** How events reach Alerts and Providers; absent: nothing sends them. */
  readonly notify?: RuntimeNotify;
  readonly registryHosts: (account: string, region: string) => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

/** What sends the events of the flows. */
export interface RuntimeNotify extends Pick<ProviderParts, "dial" | "githubApps" | "http"> {
  readonly alerts: ListedAlerts;
  /** The types of Provider by their names. */
  readonly providers: Readonly<Record<string, ProviderType>>;
  readonly commitStatusOf: (input: CommitStatusInput, signal: AbortSignal) => Promise<string>;
  readonly noCrossNamespaceRefs: boolean;
  readonly serviceNamespaces?: readonly string[];
  /** Shows people what is sent. */
  readonly recent?: RecentNotifications;
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
  const gates = options.gates ?? defaultGates;
  const notifications =
    options.notify && notificationsOf(options.notify, { clusters, clock, gates, log }, stopped.signal);
  const events =
    options.notify &&
    notifications &&
    dispatchEvents({
      ...{ clusters, clock, log, queue: notifications },
      ...{ alerts: options.notify.alerts, windows: stores.eventWindows, groups: stores.causeGroups },
    });
  const queueDeps = {
    ...{ items: stores.items, wakeUps: queuedWakeUps(stores.queue), clock, log, rules },
    ...(events === undefined ? {} : { events }),
  };
  // The holders of these leases are dead: this process has the folder's lock.
  const voided = await voidLeases(queueDeps, signal);
  if (voided > 0) log.info("leases of an earlier process voided", { leases: voided });

  const metrics = logMetrics(log);
  const { handler, requests, limits, sweepCluster, observedKinds } = composeReconcile({
    ...{ queue: queueDeps, stores, clusters, kinds, metrics, flows: options.flows },
    deadLetters: stores.deadLetters,
    looks: queuedLookRequests(stores.queue),
    extendVisibility: async (handle, visibilityMs) => stores.queue.hide(parseReceiptHandle(handle), visibilityMs),
    // The feeder's places are the cap of a cluster, since there is one process.
    maxRuns: () => Number.POSITIVE_INFINITY,
    configSelector: options.configSelector,
    gates,
  });
  const { observed, subscriptions } = stores;
  const ingest = ingestHandler({
    ...{ subscriptions, observed, requests, metrics, log },
    registryHosts: options.registryHosts,
    isAdmitted: () => true,
  });
  const sweep = sweepHandler({
    ...queueDeps,
    clusters: () => [...served.keys()],
    ...{ limits, metrics, kinds },
    sweepRequests: queuedSweepRequests(stores.queue),
  });
  const receive = composeReceiver({
    receivers: stores.receivers,
    ...{ clusters, requests, cel: options.cel, clock, log, metrics },
    authentications: options.authentications ?? authentications,
  });
  const feeder = startFeeder({
    queue: stores.queue,
    placesOf: (cluster) => (served.has(cluster) || served.size >= options.clusterCount ? concurrency : 0),
    log,
    handler,
  });
  const collect = collectHandler({ ...stores, clock, log });
  const background = [
    repeat("sweep", minuteMs, (stop) => sweep({}, stop), { clock, log }, stopped.signal),
    repeat("collection of artifacts", hourMs, (stop) => collect({}, stop), { clock, log }, stopped.signal),
  ];
  return {
    receive,
    ingest: (event) => ingest(event, stopped.signal),
    async serve(cluster) {
      const { id, home, log: clusterLog } = cluster;
      if (served.has(id)) throw new RangeError(`cluster ${id} is served already`);
      served.set(id, cluster);
      feeder.look();
      const deps = { observed, requests, subscriptions, cluster: home, clusterId: id, clock, log: clusterLog };
      // As the schedule does every minute, and at once.
      await sweepCluster(id, stopped.signal);
      await wakeOverdue({ ...queueDeps, limits }, [id], stopped.signal).catch((error: unknown) => {
        if (!stopped.signal.aborted) clusterLog.warn("sweep not finished", { error: messageOf(error) });
      });
      background.push(...watchKinds(observedKinds, deps, stopped.signal));
    },
    async stop() {
      const reason = new Shutdown("the process ends");
      stopped.abort(reason);
      const ended = Promise.all([feeder.stop(reason), ...background, notifications?.ended()]);
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

/** Delivers in this process what the Alerts of its clusters send. */
function notificationsOf(
  { dial, githubApps, http, recent, ...notify }: RuntimeNotify,
  deps: Pick<DeliverDeps, "clock" | "clusters" | "gates" | "log">,
  signal: AbortSignal,
): Notifications {
  const { clock } = deps;
  const parts = {
    ...{ dial, http },
    ...(githubApps === undefined ? {} : { githubApps }),
    now: () => clock.now(),
    sleep: (ms: number, stop: AbortSignal) => clock.sleep(ms, stop),
  };
  const settled: DeliverDeps["settled"] = (notification, outcome) => recent?.settle(notification, outcome);
  const deliver = deliverNotifications({ ...deps, ...notify, parts, settled });
  return startNotifications({ ...deps, deliver, ...(recent === undefined ? {} : { recent }) }, signal);
}

const minuteMs = 60_000;
/** Lambda does it once a day; a process of this machine seldom lives as long. */
const hourMs = 60 * minuteMs;

/** Calls `work` so long after its last call has ended; logs its failures. */
export async function repeat(
  what: string,
  intervalMs: number,
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
      if (error !== signal.reason) log.warn(`${what} not finished`, { error: messageOf(error) });
    }
  }
}
