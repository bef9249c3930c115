import type { WorkItems } from "../../../../lib/core/ports/work-items.ts";
import { formatWorkKey } from "../../../../lib/core/work-key.ts";
import { type Instant, rules } from "../../../../lib/queue/rules.ts";
import { sweep, voidLeases } from "../../../../lib/queue/sweep.ts";
import { renewEveryMs } from "../../../../lib/queue/timing.ts";
import type { TakenOut } from "./rules-taken-out.ts";
import type { Mutation } from "./simulation.ts";

/** With the moment at which a write was answered in place of the one before it was sent. */
const withLateTime: Mutation["deps"] = ({ items, clock }) => {
  const written: { readonly before: number; readonly after: Instant }[] = [];
  const renewedAt = (renewed: Instant): Instant =>
    written.findLast(({ before }) => before <= renewed.monotonic + 1_000 && before >= renewed.monotonic)?.after ??
    renewed;
  return {
    items: {
      ...items,
      put: async (item, signal) => {
        const before = clock.monotonic();
        const answer = await items.put(item, signal);
        written.push({ before, after: { wall: clock.now(), monotonic: clock.monotonic() } });
        return answer;
      },
    },
    rules: { ...rules, mayWrite: (renewed, now) => rules.mayWrite(renewedAt(renewed), now) },
  };
};

/** Throws where any call of one sweep does. */
const sweepToFirstFault: typeof sweep = async (deps, signal) => {
  const fault = new AbortController();
  const put: WorkItems["put"] = async (...args) => {
    try {
      return await deps.items.put(...args);
    } catch (error) {
      fault.abort(error);
      throw error;
    }
  };
  return sweep({ ...deps, items: { ...deps.items, put } }, AbortSignal.any([signal, fault.signal]));
};

const sweepOnePage: typeof sweep = (deps, signal) => {
  const overdue: WorkItems["overdue"] = async function* (...args) {
    for await (const page of deps.items.overdue(...args)) {
      yield page;
      return;
    }
  };
  return sweep({ ...deps, items: { ...deps.items, overdue } }, signal);
};

/** Leaves the count of attempts as it finds it. */
const voidLeasesAndCount: typeof voidLeases = (deps, signal) => {
  const attempts = new Map<string, number>();
  const { items } = deps;
  const get: WorkItems["get"] = async (key, stop) => {
    const found = await items.get(key, stop);
    attempts.set(formatWorkKey(key), found?.attempts ?? 0);
    return found;
  };
  const put: WorkItems["put"] = (item, stop) =>
    items.put({ ...item, attempts: attempts.get(formatWorkKey(item.key)) ?? item.attempts }, stop);
  return voidLeases({ ...deps, items: { ...items, get, put } }, signal);
};

/** What the driver does around the rules: when it asks for the lease and renews it, how it sweeps, how a home starts. */
export const driverTakenOut: readonly TakenOut[] = [
  {
    rule: "a received message is hidden for the length of a lease",
    mutation: { extends: false },
  },
  {
    rule: "the lease is checked right before a write is sent, after everything that has to be waited for",
    mutation: { asksBeforeSend: false },
  },
  {
    rule: "a lease's time runs from before its write was sent, not from its answer",
    mutation: { deps: withLateTime },
  },
  {
    rule: "a lease is renewed early enough for three tries",
    mutation: {
      deps: ({ clock }) => ({
        clock: { ...clock, sleep: (ms, signal) => clock.sleep(ms === renewEveryMs ? 40_000 : ms, signal) },
      }),
    },
  },
  { rule: "a sweep heals what was lost", mutation: { sweep: async () => 0 } },
  { rule: "a sweep goes on until nothing is overdue", mutation: { sweep: sweepOnePage } },
  { rule: "an error of one item does not end a sweep", mutation: { sweep: sweepToFirstFault } },
  { rule: "at home a new process voids the leases of the one before", mutation: { voidLeases: async () => 0 } },
  {
    rule: "at home a run that was killed beside others is not counted",
    mutation: { voidLeases: voidLeasesAndCount },
  },
  {
    rule: "at home the queue measures delays by the monotonic clock",
    mutation: { queueClock: (clock) => ({ ...clock, monotonic: () => clock.now() }) },
  },
];
