import type { Clock } from "../../../lib/core/ports/clock.ts";
import type { Flow } from "../../../lib/core/ports/run.ts";
import type { DeadLetters, WakeUp } from "../../../lib/core/ports/wake-ups.ts";
import {
  type LeasedItems,
  overdueAt,
  overduePageSize,
  type WorkItem,
  type WorkItems,
} from "../../../lib/core/ports/work-items.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { handleWakeUp } from "../../../lib/queue/handle-wake-up.ts";
import type { RunnerDeps } from "../../../lib/queue/queue-deps.ts";
import { rules } from "../../../lib/queue/rules.ts";
import { runPlaces } from "../../../lib/queue/run-places.ts";
import { keyOf, never } from "../../contract/state-back-end.ts";
import { silentLog } from "../../doubles/silent-log.ts";

/** The object that {@link queueWorld} handles wake-ups of. */
export const key = keyOf("web");
export const applied: Flow = async () => ({ outcome: "applied", dueInMs: undefined });

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** The queue on plain maps, with a clock that moves only when it is slept on, or skipped. */
export function queueWorld() {
  const sleepers = new Set<Sleeper>();
  const rows = new Map<string, WorkItem>();
  const sent: { wakeUp: WakeUp; delayMs: number }[] = [];
  const letters: Parameters<DeadLetters["send"]>[0][] = [];
  const told: string[] = [];
  let now = 1_000_000;
  const items: WorkItems & LeasedItems = {
    get: async (of) => rows.get(formatWorkKey(of)),
    put: async (item) => {
      const id = formatWorkKey(item.key);
      if ((rows.get(id)?.version ?? 0) !== item.version - 1) return "conflict";
      rows.set(id, item);
      return "stored";
    },
    async *overdue(at, isWanted) {
      const found = [...rows.values()].filter((item) => (overdueAt(item) ?? Infinity) <= at);
      for (let start = 0; start < found.length; start += overduePageSize) {
        const page = found.slice(start, start + overduePageSize);
        yield { items: page.filter(({ key: of }) => isWanted(of.cluster)), unreadable: [] };
      }
    },
    leased: async () => ({ items: [...rows.values()].filter(({ lease }) => lease !== undefined), unreadable: [] }),
  };
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        // A short wait is a pause before another try; a renewal's wait ends with the run, or with the time that is skipped.
        if (ms >= 10_000) return void sleepers.add({ until: now + ms, wake: resolve });
        now += ms;
        resolve();
      }),
  };
  const deps: RunnerDeps & { items: typeof items } = {
    items,
    wakeUps: { send: async (wakeUp, delayMs) => void sent.push({ wakeUp, delayMs }) },
    deadLetters: { send: async (letter) => void letters.push(letter) },
    clock,
    log: silentLog,
    rules,
    runPlaces: runPlaces(clock),
    newHolder: () => `holder-${now}`,
    inputOf: async () => "input",
    onParked: async (_, message) => void told.push(message),
  };
  const handle = (flow: Flow, wakeUp: WakeUp = { key: formatWorkKey(key) }, signal = never, with_ = deps) =>
    handleWakeUp({ wakeUp, extend: async () => undefined }, flow, with_, signal);
  return {
    deps,
    sent,
    letters,
    told,
    handle,
    row: () => rows.get(formatWorkKey(key)),
    /** The time that a process stands still: its own timers do not see it. */
    freeze: (ms: number) => {
      now += ms;
    },
    /** Lets so much time pass, and ends the waits for it. */
    skip: async (ms: number) => {
      now += ms;
      for (const sleeper of sleepers) {
        if (sleeper.until > now) continue;
        sleepers.delete(sleeper);
        sleeper.wake();
      }
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    },
    store: (item: WorkItem) => rows.set(formatWorkKey(item.key), item),
  };
}
