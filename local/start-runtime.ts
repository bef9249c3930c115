import { ingestHandler } from "../functions/ingest.ts";
import { type Flows, flowFor, kinds } from "../functions/kinds.ts";
import { reconcileHandler } from "../functions/reconcile.ts";
import { runnerDeps } from "../functions/runner-deps.ts";
import { sweepHandler } from "../functions/sweep.ts";
import { messageOf } from "../lib/core/failure.ts";
import { logMetrics } from "../lib/core/log-metrics.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { ReconcileRequests } from "../lib/core/ports/reconcile-requests.ts";
import type { WriteGate } from "../lib/core/ports/write-gate.ts";
import { HandBack } from "../lib/queue/hand-back.ts";
import { reconcileRequests } from "../lib/queue/request-reconcile.ts";
import { rules } from "../lib/queue/rules/rules.ts";
import { voidLeases } from "../lib/queue/void-leases.ts";
import { everyMinute } from "./every-minute.ts";
import { startFeeder } from "./feeder.ts";
import { parseReceiptHandle } from "./sqs-event.ts";
import type { Stores } from "./state/open-stores.ts";
import { queuedWakeUps } from "./state/wake-ups.ts";
import { watchResources } from "./watch-resources.ts";

/** Runs at the same time, whatever their objects. */
const concurrency = 8;
/** Past this a run is handed back, so that an end of the process is not held up. */
const stopWithinMs = 4_000;

export interface RuntimeOptions {
  readonly stores: Stores;
  /** Each write to it passes the gate. */
  readonly cluster: Cluster;
  readonly gate: WriteGate;
  /** The cluster's name in work keys. */
  readonly clusterName: string;
  readonly flows: (requests: ReconcileRequests) => Flows;
  readonly registryHosts: (account: string, region: string) => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

export interface Runtime {
  /** Takes an event in the shape of EventBridge. */
  ingest(event: unknown): Promise<void>;
  /** Hands every run back and takes no more; resolves within 5 s. */
  stop(): Promise<void>;
}

/** What Lambda and its event sources do, in this process: feeds the functions from the queue, a watch and a timer. */
export async function startRuntime(options: RuntimeOptions, signal: AbortSignal): Promise<Runtime> {
  const { stores, cluster, gate, clusterName, clock, log } = options;
  const stopped = new AbortController();
  const queueDeps = { items: stores.items, wakeUps: queuedWakeUps(stores.queue), clock, log, rules };
  // Whoever held these leases is dead: this process has the folder's lock.
  const voided = await voidLeases(queueDeps, signal);
  if (voided > 0) log.info("leases of an earlier process voided", { leases: voided });

  const requests = reconcileRequests(queueDeps);
  const flows = options.flows(requests);
  const noticeDeps = { sightings: stores.sightings, requests };
  const ingest = ingestHandler({ edges: stores.edges, requests, log, registryHosts: options.registryHosts });
  const sweep = sweepHandler({
    ...queueDeps,
    ...noticeDeps,
    gate,
    kinds,
    listMetadata: (_cluster, kind, stop) => cluster.listMetadata(kind, stop),
  });
  const sweepOnce = (stop: AbortSignal): Promise<void> => sweep({ cluster: clusterName }, stop);
  await sweepOnce(signal).catch((error: unknown) => log.warn("sweep not finished", { error: messageOf(error) }));

  const metrics = logMetrics(log);
  const feeder = startFeeder({
    queue: stores.queue,
    concurrency,
    log,
    handler: reconcileHandler({
      ...runnerDeps(queueDeps, { cluster, deadLetters: stores.deadLetters, metrics }),
      gate,
      metrics,
      flowOf: (key) => flowFor(key, clusterName, flows),
      extendVisibility: async (handle, visibilityMs) => stores.queue.hide(parseReceiptHandle(handle), visibilityMs),
    }),
  });
  const watchDeps = { ...noticeDeps, cluster, clusterName, clock, log };
  const background = [
    ...kinds.map((kind) => watchResources(kind, watchDeps, stopped.signal)),
    everyMinute(sweepOnce, { clock, log }, stopped.signal),
  ];
  return {
    ingest: (event) => ingest(event, stopped.signal),
    async stop() {
      const reason = new HandBack("the process ends");
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
