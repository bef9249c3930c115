import { cutText } from "../core/cut-text.ts";
import type { Log } from "../core/ports/log.ts";
import type { Metrics } from "../core/ports/metrics.ts";
import { formatWorkKey, type WorkKey } from "../core/work-key.ts";
import { ageOf, type BothClocks, type Moment, momentOf } from "./moment.ts";

/** For so long after a warning about a Receiver the next ones are lines of level debug. */
export const quietMs = 1_000;
/** The limit for a reason in the line that counts a refusal. */
const maxWhyBytes = 512;
/** Receivers that are remembered. */
const maxReceivers = 1_000;

/** Why a delivery is not taken. */
export interface Refused {
  readonly status: number;
  readonly why: string;
  /** Whether the Receiver's path cannot be guessed, so that what comes to it is meant for it. */
  readonly isMeant: boolean;
}

/** Tells that a delivery to this Receiver was refused, and why. */
export type RefusalLog = (receiver: WorkKey, refusal: Refused) => void;

/**
 * Warns of each Receiver, and counts, at most once a second: strangers can send what is refused as often as they like. What comes to a
 * path that can be guessed is not counted, nor is a Receiver that is suspended or not ready (503): neither needs a person.
 */
export function refusalLog({
  log,
  clock,
  metrics,
}: {
  readonly log: Log;
  readonly clock: BothClocks;
  readonly metrics: Metrics;
}): RefusalLog {
  const warned = new Map<string, Moment>();
  return (key, { isMeant, ...refusal }) => {
    const receiver = formatWorkKey(key);
    const last = warned.get(receiver);
    const isQuiet = last !== undefined && ageOf(last, clock) < quietMs;
    log[isQuiet ? "debug" : "warn"]("webhook refused", { receiver, ...refusal });
    if (isQuiet) return;
    if (isMeant && refusal.status !== 503)
      metrics.record(key, { EventsRefused: 1 }, { why: cutText(refusal.why, maxWhyBytes) });
    warned.delete(receiver);
    warned.set(receiver, momentOf(clock));
    const [oldest] = warned.keys();
    if (warned.size > maxReceivers && oldest !== undefined) warned.delete(oldest);
  };
}
