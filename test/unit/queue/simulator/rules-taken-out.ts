import type { WorkItem } from "../../../../lib/core/ports/work-items.ts";
import { type Rules, rules } from "../../../../lib/queue/rules.ts";
import { runPlaces } from "../../../../lib/queue/run-places.ts";
import { burstMs, leaseMs } from "../../../../lib/queue/timing.ts";
import type { Mutation } from "./simulation.ts";

/** A rule of the protocol, and the protocol without it. */
export interface TakenOut {
  readonly rule: string;
  readonly mutation: Mutation;
}

const withRules = (patch: Partial<Rules>): Mutation => ({
  deps: () => ({ rules: { ...rules, ...patch } }),
});

const withWakeUp = (patch: (item: WorkItem, ...rest: Parameters<Rules["onWakeUp"]>) => ReturnType<Rules["onWakeUp"]>) =>
  withRules({
    onWakeUp: (item, waking) => (item === undefined ? { kind: "drop" } : patch(item, item, waking)),
  });

/** The rule for a wake-up, with the item that it writes patched. */
const withTaken = (patch: (taken: WorkItem, before: WorkItem) => WorkItem): Mutation =>
  withWakeUp((before, ...args) => {
    const decision = rules.onWakeUp(...args);
    return decision.kind === "run" || decision.kind === "park"
      ? { ...decision, item: patch(decision.item, before) }
      : decision;
  });

const withEnd = (patch: (ended: WorkItem, before: WorkItem | undefined) => WorkItem): Mutation =>
  withRules({
    onEnd: (item, ...rest) => {
      const ended = rules.onEnd(item, ...rest);
      return ended === undefined ? undefined : patch(ended, item);
    },
  });

const withDeps = (patch: NonNullable<Mutation["deps"]>): Mutation => ({
  deps: patch,
});

/** The rules that are pure functions of an item and what was heard, and their reading in the handler of a message. */
export const rulesTakenOut: readonly TakenOut[] = [
  {
    rule: "a request is counted",
    mutation: withRules({
      onRequest: (item, ...rest) => {
        const decision = rules.onRequest(item, ...rest);
        if (item === undefined || decision.item === undefined) return decision;
        return { ...decision, item: { ...decision.item, requested: item.requested } };
      },
    }),
  },
  {
    rule: "a request is counted even while a lease is held",
    mutation: withRules({
      onRequest: (item, ...rest) =>
        item?.lease === undefined ? rules.onRequest(item, ...rest) : { item: undefined, send: false, delayMs: 0 },
    }),
  },
  {
    rule: "a request sends a wake-up",
    mutation: withRules({ onRequest: (...given) => ({ ...rules.onRequest(...given), send: false }) }),
  },
  {
    rule: "a request that a waiting one covers writes nothing",
    mutation: withRules({
      onRequest: (item, ...rest) =>
        rules.onRequest(item === undefined ? undefined : { ...item, started: item.requested }, ...rest),
    }),
  },
  {
    rule: "past wakeUntil a request sends the wake-up again",
    mutation: withRules({
      onRequest: (item, ...rest) =>
        item !== undefined && item.requested > item.started
          ? { item: undefined, send: false, delayMs: 0 }
          : rules.onRequest(item, ...rest),
    }),
  },
  {
    rule: "a request says until when its wake-up is trusted, so that the sweep finds it",
    mutation: withRules({
      onRequest: (...given) => {
        const decision = rules.onRequest(...given);
        return { ...decision, item: decision.item && { ...decision.item, wakeUntil: undefined } };
      },
    }),
  },
  { rule: "a lease taken raises the token", mutation: withTaken((taken, { token }) => ({ ...taken, token })) },
  {
    rule: "a run starts with all that was requested before it, and with no more",
    mutation: withEnd((ended) => ({ ...ended, started: ended.requested })),
  },
  {
    rule: "a lease taken says until when it is trusted, so that the sweep finds it",
    mutation: withTaken((taken) => ({ ...taken, wakeUntil: undefined })),
  },
  {
    rule: "an attempt is counted when it starts",
    mutation: withTaken((taken, { attempts }) => ({ ...taken, attempts: Math.max(1, attempts) })),
  },
  {
    rule: "each try to take a lease has a name of its own",
    mutation: withDeps(() => ({ newHolder: () => "handler" })),
  },
  {
    rule: "a write is conditional on the version that was read",
    mutation: withDeps(({ items }) => ({
      items: {
        ...items,
        put: async (item, signal) => {
          const found = await items.get(item.key, signal);
          return items.put({ ...item, version: (found?.version ?? 0) + 1 }, signal);
        },
      },
    })),
  },
  {
    rule: "a held lease is not taken when it is first found",
    mutation: withWakeUp((_, item, waking) =>
      rules.onWakeUp(item && { ...item, lease: undefined, dueAt: 0 }, {
        ...waking,
        wakeUp: { ...waking.wakeUp, dueAt: 0 },
      }),
    ),
  },
  {
    rule: "a lease is dead only if no renewal has come",
    mutation: withWakeUp((before, item, waking) => {
      const { held } = waking.wakeUp;
      const renewals = before.lease?.renewals ?? 0;
      const blind = held?.holder === before.lease?.holder && held !== undefined ? { ...held, renewals } : held;
      return rules.onWakeUp(item, { ...waking, wakeUp: { ...waking.wakeUp, held: blind } });
    }),
  },
  {
    rule: "a lease is dead only if it is still the one that was found",
    mutation: withWakeUp((before, item, waking) => {
      const { held } = waking.wakeUp;
      const blind = held === undefined ? undefined : before.lease;
      return rules.onWakeUp(item, { ...waking, wakeUp: { ...waking.wakeUp, held: blind } });
    }),
  },
  {
    rule: "a wake-up that finds a lease is sent on",
    mutation: withWakeUp((_, ...args) => {
      const decision = rules.onWakeUp(...args);
      return decision.kind === "forward" ? { kind: "drop" } : decision;
    }),
  },
  {
    rule: "a wake-up is sent on with a lease's length of delay",
    mutation: withWakeUp((_, ...args) => {
      const decision = rules.onWakeUp(...args);
      return decision.kind === "forward" ? { ...decision, delayMs: leaseMs / 4 } : decision;
    }),
  },
  {
    rule: "a wake-up is sent on with the lease that it found",
    mutation: withWakeUp((_, ...args) => {
      const decision = rules.onWakeUp(...args);
      return decision.kind === "forward" ? { ...decision, wakeUp: { key: decision.wakeUp.key } } : decision;
    }),
  },
  {
    rule: "a wake-up for an item that is neither requested nor due is dropped",
    mutation: withWakeUp((_, item, waking) =>
      rules.onWakeUp(item && { ...item, dueAt: item.dueAt ?? 0 }, {
        ...waking,
        wakeUp: { ...waking.wakeUp, dueAt: item?.dueAt ?? 0 },
      }),
    ),
  },
  {
    rule: "a renewal counts up",
    mutation: withRules({
      onRenew: (item, token, now) => {
        const renewed = rules.onRenew(item, token, now);
        return renewed && { ...renewed, lease: renewed.lease && { ...renewed.lease, renewals: 0 } };
      },
    }),
  },
  {
    rule: "only the lease's own holder renews it",
    mutation: withRules({
      onRenew: (item, _token, now) => (item === undefined ? undefined : rules.onRenew(item, item.token, now)),
    }),
  },
  { rule: "a holder stops writing before its lease can be taken", mutation: withRules({ mayWrite: () => true }) },
  {
    rule: "a holder stops a margin before its lease is over",
    mutation: withRules({
      mayWrite: (renewed, now) => Math.max(now.wall - renewed.wall, now.monotonic - renewed.monotonic) < leaseMs,
    }),
  },
  {
    rule: "a holder looks at its monotonic clock",
    mutation: withRules({
      mayWrite: (renewed, now) => rules.mayWrite({ ...renewed, monotonic: now.monotonic }, now),
    }),
  },
  {
    rule: "a holder looks at its wall clock",
    mutation: withRules({ mayWrite: (renewed, now) => rules.mayWrite({ ...renewed, wall: now.wall }, now) }),
  },
  { rule: "every write to the table carries the token", mutation: { fence: () => {} } },
  {
    rule: "only the lease's own holder drops it",
    mutation: withRules({
      onEnd: (item, _token, end, now) => (item === undefined ? undefined : rules.onEnd(item, item.token, end, now)),
    }),
  },
  {
    rule: "a run that ends drops its lease",
    mutation: withEnd((ended, before) => ({ ...ended, lease: before?.lease })),
  },
  {
    rule: "a request that came during a run is sent on at its end",
    mutation: withRules({
      followUps: (item, now) => rules.followUps({ ...item, started: item.requested }, now),
    }),
  },
  {
    rule: "a due time within the queue's reach has a message of its own",
    mutation: withRules({ followUps: (item, now) => rules.followUps({ ...item, dueAt: undefined }, now) }),
  },
  {
    rule: "the message for a due time says which",
    mutation: withRules({
      followUps: (item, now) =>
        rules.followUps(item, now).map(({ wakeUp, delayMs }) => ({ wakeUp: { key: wakeUp.key }, delayMs })),
    }),
  },
  {
    rule: "a reader's own clock does not make an item due",
    mutation: withWakeUp((before, item, waking) => {
      const due = before.dueAt !== undefined && before.dueAt <= waking.now ? { dueAt: before.dueAt } : {};
      return rules.onWakeUp(item, { ...waking, wakeUp: { ...waking.wakeUp, ...due } });
    }),
  },
  {
    rule: "the due time that a flow asked for is kept",
    mutation: withEnd((ended) => ({ ...ended, dueAt: undefined })),
  },
  {
    rule: "a run that throws is tried again only after its back-off",
    mutation: withRules({
      onEnd: (item, token, end, now) => {
        const ended = rules.onEnd(item, token, end, now);
        return end.kind === "failed" && ended !== undefined ? { ...ended, dueAt: now } : ended;
      },
    }),
  },
  {
    rule: "a good end resets the attempts",
    mutation: withEnd((ended, before) => ({ ...ended, attempts: before?.attempts ?? 0 })),
  },
  {
    rule: "a hint does not shorten a back-off",
    mutation: withWakeUp((_, item, waking) => {
      const decision = rules.onWakeUp(item, waking);
      if (decision.kind !== "writeOnly" || decision.wait || item?.phase !== "Active") return decision;
      return rules.onWakeUp({ ...item, attempts: 0 }, waking);
    }),
  },
  {
    rule: "a new input does not wait for the back-off of the old one",
    mutation: withWakeUp((before, item, waking) =>
      rules.onWakeUp(item, {
        ...waking,
        input: waking.input === undefined ? undefined : (before.input ?? waking.input),
      }),
    ),
  },
  {
    rule: "a run whose last process died runs alone in its process",
    mutation: withDeps(({ clock }) => ({
      runPlaces: { ...runPlaces(clock), tryEnter: () => ({ exclusive: true, [Symbol.dispose]: () => undefined }) },
    })),
  },
  {
    rule: "a run whose process died is marked as such",
    mutation: withTaken((taken) => ({ ...taken, died: false })),
  },
  {
    rule: "an object whose runs do not end is parked",
    mutation: withWakeUp((_, ...args) => {
      const decision = rules.onWakeUp(...args);
      return decision.kind === "park" ? { kind: "run", item: decision.item } : decision;
    }),
  },
  {
    rule: "a parked object is not run for a hint",
    mutation: withWakeUp((before, item, waking) =>
      rules.onWakeUp(item && { ...item, input: before.phase === "Poisoned" ? "another" : item.input }, waking),
    ),
  },
  {
    rule: "a parked object is looked at again every hour",
    mutation: withRules({
      onEnd: (item, token, end, now) => {
        const ended = rules.onEnd(item, token, end, now);
        return end.kind === "parked" && ended !== undefined ? { ...ended, dueAt: undefined } : ended;
      },
      onWakeUp: (item, waking) => {
        const decision = rules.onWakeUp(item, waking);
        if (decision.kind !== "writeOnly" || decision.item.phase !== "Poisoned") return decision;
        return { ...decision, item: { ...decision.item, dueAt: undefined } };
      },
    }),
  },
  {
    rule: "the user of a parked object is told",
    mutation: withWakeUp((_, ...args) => {
      const decision = rules.onWakeUp(...args);
      return decision.kind === "park" ? { ...decision, announce: false } : decision;
    }),
  },
  {
    rule: "a run that is handed back is due at once",
    mutation: withRules({
      onEnd: (item, token, end, now) => {
        const ended = rules.onEnd(item, token, end, now);
        return end.kind === "handedBack" && ended !== undefined ? { ...ended, dueAt: undefined } : ended;
      },
    }),
  },
  {
    rule: "a process that ends hands its runs back",
    mutation: withRules({
      onEnd: (item, token, end, now) => (end.kind === "handedBack" ? item : rules.onEnd(item, token, end, now)),
    }),
  },
  {
    rule: "the end of a run is kept until the table takes it",
    mutation: withRules({ tryAgain: (failed) => rules.tryAgain({ ...failed, hasTime: false }) }),
  },
  {
    rule: "a run that is cut off from the table is not counted",
    mutation: withRules({
      onEnd: (item, token, end, now) =>
        rules.onEnd(item, token, end.kind === "cutOff" ? { kind: "failed", fault: "cut off" } : end, now),
    }),
  },
  {
    rule: "only requests that came before a run count as handled by it",
    mutation: withEnd((ended) => ({ ...ended, handled: ended.requested })),
  },
  {
    rule: "an item in back-off has a message for its due time, whatever else waits",
    mutation: withRules({
      followUps: (item, now) =>
        rules.followUps(item.attempts > 0 && item.requested > item.started ? { ...item, dueAt: undefined } : item, now),
    }),
  },
  {
    rule: "a run that is handed back is not counted",
    mutation: withRules({
      onEnd: (item, token, end, now) => {
        const ended = rules.onEnd(item, token, end, now);
        return end.kind === "handedBack" && ended !== undefined ? { ...ended, attempts: ended.attempts + 1 } : ended;
      },
    }),
  },
  {
    rule: "a run that is handed back forgets no other attempt",
    mutation: withRules({
      onEnd: (item, token, end, now) => {
        const ended = rules.onEnd(item, token, end, now);
        return end.kind === "handedBack" && ended !== undefined ? { ...ended, attempts: 0 } : ended;
      },
    }),
  },
  {
    rule: "a parked object is not run every hour while its input is the same",
    mutation: withWakeUp((before, item, waking) => {
      const decision = rules.onWakeUp(item, waking);
      if (decision.kind !== "writeOnly" || before.phase !== "Poisoned") return decision;
      return rules.onWakeUp(item && { ...item, phase: "Active" }, waking);
    }),
  },
  {
    rule: "the sweep says what is due",
    mutation: withRules({
      onSweep: (item, now) => {
        const decision = rules.onSweep(item, now);
        return decision && { ...decision, wakeUp: { key: decision.wakeUp.key } };
      },
    }),
  },
  {
    rule: "a hint that finds a hinted run under way waits for others",
    mutation: withRules({
      followUps: (item, now) => rules.followUps({ ...item, hinted: undefined }, now),
    }),
  },
  {
    rule: "a hint of a quiet object does not wait",
    mutation: withRules({
      onRequest: (...given) => ({ ...rules.onRequest(...given), delayMs: given[3] === "hint" ? burstMs : 0 }),
    }),
  },
  {
    rule: "a request that is no hint takes a waiting hint along at once",
    mutation: withRules({
      onRequest: (item, key, now) => rules.onRequest(item, key, now, "hint"),
    }),
  },
  {
    rule: "the hints that come during a run are served by another",
    mutation: withRules({
      onRequest: (item, key, now, kind) =>
        item?.lease !== undefined && kind === "hint"
          ? { item: undefined, send: false, delayMs: 0 }
          : rules.onRequest(item, key, now, kind),
    }),
  },
];
