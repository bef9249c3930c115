import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CauseGroup, seenEveryMs } from "../../../lib/core/ports/cause-groups.ts";
import {
  afterFailure,
  afterWaiting,
  decideOver,
  decideWaiting,
  quietMs,
  sendingMs,
  sent,
} from "../../../lib/notify/cause-group.ts";

const begin = Date.UTC(2026, 10, 24, 12);
const reason = "DependencyNotReady";
const wait = (at: number, of = reason) => ({ at, reason: of });
const open = (change: Partial<CauseGroup> = {}): CauseGroup => ({
  ...{ opened: begin, isToldByCause: false, reasons: [reason], seen: begin },
  ...change,
});

describe("the message of an object that waits for another", () => {
  test("opens the group if it is the first", () => {
    expect(decideWaiting(undefined, wait(begin), begin)).toEqual({
      isSent: true,
      next: open({ sending: begin }),
      joins: begin,
    });
  });

  test.each([
    { name: "is held back while the group is open", group: open(), at: 1_000 },
    { name: "is held back while the first one is being sent", group: open({ sending: begin }), at: sendingMs - 1 },
    {
      name: "is held back once the cause was announced, whatever its reason",
      group: open({ isToldByCause: true, reasons: [] }),
      at: 1,
    },
  ])("$name", ({ at, group }) => {
    expect(decideWaiting(group, wait(begin + at), begin + at)).toEqual({ isSent: false, joins: begin });
  });

  test.each([
    { name: "has a reason that was not announced", group: open({ reasons: ["ArtifactFailed"] }), at: 1 },
    { name: "comes if the first one was lost on its way", group: open({ sending: begin }), at: sendingMs },
    { name: "comes if the group was not seen for long", group: open({ isToldByCause: true }), at: quietMs },
  ])("is sent if it $name", ({ at, group }) => {
    const now = begin + at;
    const { isSent, joins, next } = decideWaiting(group, wait(now), now);
    expect([isSent, joins, next?.sending, next?.seen, next?.reasons.includes(reason)]).toEqual([
      ...[true, begin, now, now],
      true,
    ]);
  });

  test("keeps the group open with one write per five minutes", () => {
    const at = (ms: number) => decideWaiting(open(), wait(begin + ms), begin + ms).next;
    expect([at(seenEveryMs - 1), at(seenEveryMs)]).toEqual([undefined, open({ seen: begin + seenEveryMs })]);
  });

  test("is dropped if it is older than the end of the outage, and otherwise opens another group", () => {
    const over = open({ over: begin + 1_500 });
    expect(decideWaiting(over, wait(begin), begin + 2_000)).toEqual({ isSent: false });
    const { isSent, joins } = decideWaiting(over, wait(begin + 1_000), begin + 2_000);
    expect([isSent, joins]).toEqual([true, begin + 2_000]);
  });

  test("opens a group with a later time than the previous one, so that the two are not confused", () => {
    expect(decideWaiting(open({ over: begin }), wait(begin), begin).joins).toBe(begin + 1);
  });
});

describe("the failure of the cause itself", () => {
  test("opens the group, or joins the open one", () => {
    expect(afterFailure(undefined, { at: begin }, begin)).toEqual(open({ isToldByCause: true, reasons: [] }));
    expect(afterFailure(open({ sending: begin }), { at: begin }, begin)).toEqual(open({ isToldByCause: true }));
    expect(afterFailure(open({ isToldByCause: true }), { at: begin }, begin)).toBeUndefined();
  });

  test("changes nothing for an outage that is over", () => {
    expect(afterFailure(open({ over: begin + 1_500 }), { at: begin }, begin + 2_000)).toBeUndefined();
  });
});

describe("an object that waits while others wait for it", () => {
  const root = { kind: "GitRepository", namespace: "apps", name: "shop" };

  test("is covered by the message about its own dependency, until it fails itself", () => {
    const marked = afterWaiting(undefined, { at: begin, root }, begin);
    expect(marked).toEqual(open({ isToldByCause: true, reasons: [], root }));
    expect(afterWaiting(marked, { at: begin, root }, begin + 1)).toBeUndefined();
    expect(afterWaiting(marked, { at: begin, root: { ...root, name: "other" } }, begin)?.root?.name).toBe("other");
    expect(afterFailure(marked, { at: begin }, begin)).toEqual(open({ isToldByCause: true, reasons: [] }));
  });

  test("keeps its group while it keeps waiting", () => {
    const later = begin + seenEveryMs;
    expect(afterWaiting(open({ isToldByCause: true, root }), { at: later, root }, later)?.seen).toBe(later);
    expect(afterWaiting(open({ over: begin + 1_500 }), { at: begin, root }, begin + 2_000)).toBeUndefined();
  });
});

describe("the end of an outage", () => {
  test("is announced once, and once more if that message was lost", () => {
    const over = decideOver(open(), begin + 1);
    expect(over).toEqual(open({ over: begin + 1, sending: begin + 1 }));
    if (over === undefined) return;
    expect(decideOver(over, begin + sendingMs)).toBeUndefined();
    expect(decideOver(over, begin + 1 + sendingMs)).toEqual(open({ over: begin + 1, sending: begin + 1 + sendingMs }));
    expect(decideOver(sent(over), begin + 1 + sendingMs)).toBeUndefined();
  });

  test("is not announced if the outage was not", () => {
    expect(decideOver(undefined, begin)).toBeUndefined();
  });
});

/** What happens to a group, and how many seconds later the next thing does. */
const happening = fc.record({
  what: fc.constantFrom("waits", "waits for another reason", "fails", "is ready"),
  isLate: fc.boolean(),
  isLost: fc.boolean(),
  seconds: fc.integer({ min: 0, max: 1_200 }),
});

test("in any order of events a message is held back only in a group whose cause was announced", () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 40 }), (story) => {
      let group: CauseGroup | undefined;
      let now = begin;
      /** When a message of this outage was last put into the queue. */
      let told: number | undefined;
      let over: number | undefined;
      /** Of each message that was held, whether it may be. */
      const held: boolean[] = [];
      for (const { isLate, isLost, seconds, what } of story) {
        now += seconds * 1_000;
        const at = isLate ? now - 5_000 : now;
        if (what === "fails") {
          if (!isLost) {
            group = afterFailure(group, { at }, now) ?? group;
            if (over === undefined || at + 1_000 > over) [told, over] = [now, undefined];
          }
        } else if (what === "is ready") {
          const next = decideOver(group, now);
          if (next !== undefined) {
            group = isLost ? next : sent(next);
            [told, over] = [undefined, next.over];
          }
        } else {
          const decided = decideWaiting(group, wait(at, what), now);
          if (decided.next !== undefined) group = decided.isSent && !isLost ? sent(decided.next) : decided.next;
          if (decided.isSent) {
            over = undefined;
            if (!isLost) told = now;
          } else {
            const isOfBefore = over !== undefined && at + 1_000 <= over;
            const isOnItsWay = group?.sending !== undefined && now - group.sending < sendingMs;
            held.push(isOfBefore || told !== undefined || isOnItsWay);
          }
        }
      }
      expect(held.filter((may) => !may)).toEqual([]);
    }),
  );
});

test("duplicate events send nothing twice while their group is open", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 30 }), (reasons) => {
      let group: CauseGroup | undefined;
      const messages: string[] = [];
      for (const [index, one] of [...reasons, ...reasons].entries()) {
        const { isSent, next } = decideWaiting(group, wait(begin + index, one), begin + index);
        if (next !== undefined) group = sent(next);
        if (isSent) messages.push(one);
      }
      expect(messages.toSorted()).toEqual([...new Set(reasons)].toSorted());
    }),
  );
});
