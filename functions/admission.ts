import { clusterOfPath } from "../lib/admission/admission-path.ts";
import { allowed, lookOf, readReview } from "../lib/admission/admission-review.ts";
import type { ServedKind } from "../lib/api/kinds/declaration.ts";
import { orAborted } from "../lib/core/concurrency.ts";
import { messageOf } from "../lib/core/failure.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { Metrics } from "../lib/core/ports/metrics.ts";
import { type Look, type LookRequests, lookDelaysMs } from "../lib/core/ports/wake-ups.ts";
import type { Secret } from "../lib/core/secret.ts";
import { checkedName, webhookAnswers } from "../lib/definitions/admission-webhook.ts";

export interface AdmissionDeps {
  /** The paths of the clusters are derived from it. */
  readonly secret: Secret;
  /** What is told of: our own kinds, ConfigMaps and Secrets. */
  readonly kinds: readonly Pick<ServedKind, "group" | "kind">[];
  readonly looks: LookRequests;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

export interface AdmissionCall {
  readonly method: string;
  readonly path: string;
  readonly body: Uint8Array;
}

export interface AdmissionAnswer {
  readonly status: number;
  readonly type: "application/json" | "text/plain";
  readonly body: string;
}

/** The queue has so long to take a hint. The answer goes out then, whatever has become of it. */
const sendWithinMs = 300;
/** Hints of one process, in a burst and for each second that passes. The sweep finds what is told by no hint. */
export const hintBurst = 200;
export const hintsPerSecond = 50;

/**
 * The validating webhook: tells the reconcile function that an object is about to change, and allows everything at once. It neither
 * keeps nor logs what the object holds. A hint that is lost costs a minute at most, so nothing here is tried twice.
 */
export function admissionHandler(
  deps: AdmissionDeps,
): (call: AdmissionCall, signal: AbortSignal) => Promise<AdmissionAnswer> {
  const mayHint = throttle(deps.clock);
  return async ({ method, path, body }, signal) => {
    const cluster = clusterOfPath(deps.secret, path);
    if (cluster === undefined || method !== "POST") return { status: 404, type: "text/plain", body: "not found\n" };
    const { uid, change } = readReview(body);
    const answer = (...warnings: string[]): AdmissionAnswer => ({
      ...{ status: 200, type: "application/json" },
      body: allowed(uid, warnings),
    });
    if (
      change === undefined ||
      !deps.kinds.some((one) => one.group === change.kind.group && one.kind === change.kind.kind)
    )
      return answer();
    if (change.dryRun) return change.name === checkedName ? answer(webhookAnswers) : answer();
    const look = lookOf(change, cluster);
    if (look !== undefined) await hint(look, cluster, mayHint(), deps, signal);
    return answer();
  };
}

async function hint(
  look: Look,
  cluster: string,
  isAllowed: boolean,
  { looks, clock, log, metrics }: AdmissionDeps,
  signal: AbortSignal,
): Promise<void> {
  const dropped = (why: string): void => {
    log.debug("hint dropped, the sweep looks", { key: look.key, why });
    metrics.record({ cluster, group: "", kind: "Cluster", namespace: "", name: "" }, { HintsDropped: 1 });
  };
  if (!isAllowed) return dropped("too many");
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  clock.sleep(sendWithinMs, stop).then(
    () => over.abort(new Error(`the queue gave no answer within ${sendWithinMs} ms`)),
    () => undefined,
  );
  try {
    await orAborted(looks.send(look, lookDelaysMs[0], stop), stop);
  } catch (error) {
    dropped(messageOf(error));
  } finally {
    over.abort();
  }
}

/** Says of each hint whether it may be sent. */
function throttle(clock: Pick<Clock, "monotonic">): () => boolean {
  let left = hintBurst;
  let at = clock.monotonic();
  return () => {
    const now = clock.monotonic();
    left = Math.min(hintBurst, left + ((now - at) / 1_000) * hintsPerSecond);
    at = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
