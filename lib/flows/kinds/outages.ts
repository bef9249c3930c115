import { z } from "zod";
import { findCondition } from "../../api/condition.ts";
import { hasFluxStatus } from "../../api/kinds/declaration.ts";
import { backOffMs, Failure, messageOf } from "../../core/failure.ts";
import type { ArtifactRecords } from "../../core/ports/artifact-records.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { ImageTags } from "../../core/ports/image-tags.ts";
import type { InventoryStore } from "../../core/ports/inventory-store.ts";
import type { Ledger } from "../../core/ports/ledger.ts";
import type { Log } from "../../core/ports/log.ts";
import { isOutage, Outage, storeOutage } from "../../core/ports/outage.ts";
import type { ReceiverIndex } from "../../core/ports/receiver-index.ts";
import type { ReconcileRequests } from "../../core/ports/reconcile-requests.ts";
import type { Flow, Run } from "../../core/ports/run.ts";
import type { Subscriptions } from "../../core/ports/subscriptions.ts";
import type { RunTiming } from "../interval.ts";
import { type ReporterDeps, reportStatus } from "./status-reporter.ts";

/** Kept from run to run: failed tries, start of the outage (wall time in milliseconds), whether the object's status shows it. */
const OutageSoFar = z.object({
  outage: z.object({ tries: z.number().int().min(0), since: z.number(), told: z.boolean() }),
});

/** A shorter outage is not reported: Ready would flap at each hiccup of an API server. */
const reportedAfterMs = 20_000;

export interface OutageDeps {
  /** How long to wait between tries; {@link defaultRetryDelay} if absent. */
  readonly timing?: Pick<RunTiming, "retryDelay"> | undefined;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  /** Shows in the object's status why its runs do not finish. `wasReported`: an earlier run of this outage has done so. */
  readonly report: (run: Run, failure: Failure, wasReported: boolean) => Promise<void>;
}

/**
 * The flow, wrapped so that it survives a cluster or a store that does not answer, throttles or forbids for a while: such a run is
 * tried again with back-off and never counts as an unfinished attempt, which would park the object for a fault that is not its own. A
 * lasting outage is reported in the object's status if that can be written. An error that the API server calls a malformed request is
 * rethrown.
 */
export function retryOutages(flow: Flow, { clock, log, report, timing }: OutageDeps): Flow {
  return async (run) => {
    try {
      return await flow(run);
    } catch (error) {
      if (!isOutage(error)) throw error;
      const now = clock.now();
      const soFar = OutageSoFar.safeParse(run.carried).data?.outage ?? { tries: 0, since: now, told: false };
      const { tries, since, told } = soFar;
      const dueInMs = backOffMs(tries, timing?.retryDelay);
      log.warn("an outage kept a run from its end, trying again", { key: run.key, dueInMs, error: messageOf(error) });
      const isReported =
        now - since >= reportedAfterMs && (await isWritten(() => report(run, failureOf(error), told), run, log));
      const outage = { tries: tries + 1, since, told: told || isReported };
      return { outcome: "unreachable", dueInMs, carried: { ...run.carried, outage } };
    }
  };
}

function failureOf(error: ApiError | Outage): Failure {
  const reason = error instanceof Outage ? error.reason : "ReconciliationFailed";
  return new Failure(reason, error.message, { cause: error });
}

/** Whether the cluster took the report: it may be the cluster that is down. */
async function isWritten(report: () => Promise<void>, { key }: Run, log: Log): Promise<boolean> {
  try {
    await report();
    return true;
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof Outage)) throw error;
    log.warn("the outage cannot be written to the object's status", { key, error: messageOf(error) });
    return false;
  }
}

/**
 * Reports an outage to the users of an object: Ready=False with the reason, and Reconciling, since it is tried again. One
 * Event for an outage, and one for each request of a user.
 *
 * @param wasReported whether an earlier run has reported this outage
 */
export async function reportOutage(
  run: Run,
  failure: Failure,
  wasReported: boolean,
  deps: ReporterDeps,
): Promise<void> {
  const { reason, message } = failure;
  await reportStatus(
    run,
    ({ conditions: before, generation, requestedAt, handledAt }, kind) => {
      const now = { generation, at: deps.clock.now() };
      const ready = findCondition(before, "Ready");
      const isSame = ready?.status === "False" && ready.reason === reason && ready.message === message;
      const isAsked = hasFluxStatus(kind) && requestedAt !== undefined && requestedAt !== handledAt;
      const isNews = !(wasReported || isSame) || isAsked;
      return {
        conditions: kind.failing(before, failure, now),
        handledAt: requestedAt,
        event: isNews ? { type: "Warning", reason, message, annotations: {} } : undefined,
      };
    },
    deps,
  );
}

/** The state that Sluice keeps itself, as far as flows use it. */
export interface StatePorts {
  readonly subscriptions: Subscriptions;
  readonly inventories: InventoryStore;
  readonly ledger: Ledger;
  readonly records: ArtifactRecords;
  readonly receivers: ReceiverIndex;
  readonly imageTags: ImageTags;
  readonly requests: ReconcileRequests;
}

/**
 * The same state, with errors that are {@link Outage}s for {@link retryOutages} to wait out: they are not the fault of the object
 * whose run meets them. A lost lease, the end of the run and a bug stay what they are.
 */
export function stateErrorsAsOutages({
  subscriptions,
  inventories,
  ledger,
  records,
  receivers,
  imageTags,
  requests,
}: StatePorts): StatePorts {
  return {
    subscriptions: {
      subscribe: (topics, fence, signal) => orOutage(subscriptions.subscribe(topics, fence, signal), signal),
      subscribers: (what, signal) => orOutage(subscriptions.subscribers(what, signal), signal),
      followers: (what, signal) => orOutage(subscriptions.followers(what, signal), signal),
    },
    inventories: {
      load: (owner, fence, signal) => orOutage(inventories.load(owner, fence, signal), signal),
      savedUnder: (owner, fence, signal) => orOutage(inventories.savedUnder(owner, fence, signal), signal),
      save: (owner, entries, fence, signal) => orOutage(inventories.save(owner, entries, fence, signal), signal),
      clusters: (owner, fence, signal) => orOutage(inventories.clusters(owner, fence, signal), signal),
      remove: (owner, fence, signal) => orOutage(inventories.remove(owner, fence, signal), signal),
    },
    ledger: {
      claim: (cluster, claims, fence, signal) => orOutage(ledger.claim(cluster, claims, fence, signal), signal),
      release: (cluster, uid, ids, fence, signal) => orOutage(ledger.release(cluster, uid, ids, fence, signal), signal),
      claims: (cluster, ids, signal) => orOutage(ledger.claims(cluster, ids, signal), signal),
    },
    records: {
      record: (source, uid, digest, fence, signal) =>
        orOutage(records.record(source, uid, digest, fence, signal), signal),
      retain: (source, uid, digests, fence, signal) =>
        orOutage(records.retain(source, uid, digests, fence, signal), signal),
      recorded: (source, uid, digest, signal) => orOutage(records.recorded(source, uid, digest, signal), signal),
    },
    receivers: {
      save: (path, entry, fence, signal) => orOutage(receivers.save(path, entry, fence, signal), signal),
      remove: (fence, signal) => orOutage(receivers.remove(fence, signal), signal),
      find: (path, signal) => orOutage(receivers.find(path, signal), signal),
    },
    imageTags: {
      put: (stored, fence, signal) => orOutage(imageTags.put(stored, fence, signal), signal),
      get: (repository, signal) => orOutage(imageTags.get(repository, signal), signal),
      describe: (repository, signal) => orOutage(imageTags.describe(repository, signal), signal),
      remove: (fence, signal) => orOutage(imageTags.remove(fence, signal), signal),
    },
    requests: {
      request: (key, reason, signal) =>
        orOutage(requests.request(key, reason, signal), signal, "a wake-up was not sent"),
    },
  };
}

function orOutage<Result>(
  call: Promise<Result>,
  signal: AbortSignal,
  what = "Sluice's own state is out of reach",
): Promise<Result> {
  return call.catch(storeOutage("ReconciliationFailed", what, signal));
}
