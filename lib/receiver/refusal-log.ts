import type { Log } from "../core/ports/log.ts";
import { formatWorkKey, type WorkKey } from "../core/work-key.ts";
import { ageOf, type BothClocks, type Moment, momentOf } from "./moment.ts";

/** For so long after a warning about a Receiver the next ones are lines of level debug. */
export const quietMs = 1_000;
/** Receivers that are remembered. */
const maxReceivers = 1_000;

/** Tells that a delivery to this Receiver was refused, and why. */
export type RefusalLog = (receiver: WorkKey, refusal: { readonly status: number; readonly why: string }) => void;

/** Warns at most once a second of each Receiver: strangers can send what is refused as often as they like. */
export function refusalLog({ log, clock }: { readonly log: Log; readonly clock: BothClocks }): RefusalLog {
  const warned = new Map<string, Moment>();
  return (key, refusal) => {
    const receiver = formatWorkKey(key);
    const last = warned.get(receiver);
    const isQuiet = last !== undefined && ageOf(last, clock) < quietMs;
    log[isQuiet ? "debug" : "warn"]("webhook refused", { receiver, ...refusal });
    if (isQuiet) return;
    warned.delete(receiver);
    warned.set(receiver, momentOf(clock));
    const [oldest] = warned.keys();
    if (warned.size > maxReceivers && oldest !== undefined) warned.delete(oldest);
  };
}
