import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mapLimit } from "../../lib/core/concurrency.ts";
import { overduePageSize } from "../../lib/core/ports/work-items.ts";
import { keyOf, never, type OpenState, overdueItems, type StateBackEnd, workItem } from "./state-back-end.ts";

/** The index may lag behind, and calls may need several tries. */

export function workItemsContract(name: string, open: OpenState): void {
  describe(`work items: ${name}`, () => {
    let state: StateBackEnd;
    beforeEach(async () => {
      state = await open();
    });
    afterEach(() => state.close());

    const key = keyOf("web");

    test("an item that was not stored is undefined", async () => {
      expect(await state.items.get(key, never)).toBeUndefined();
    });

    test("every field comes back as it was stored", async () => {
      const bare = workItem(key);
      const full = workItem(key, {
        version: 2,
        requested: 7,
        started: 6,
        handled: 5,
        token: 4,
        lease: { holder: "a-random-name", renewals: 3 },
        wakeUntil: 1_790_000_000_123,
        dueAt: 1_790_000_000_456.25,
        attempts: 2,
        phase: "Poisoned",
        input: "uid/3",
        fault: "connection refused: ünïcode",
        carried: { since: 12, list: ["a", null, { b: true }] },
        seen: { objectUid: "u1", clusterUid: "c1", revision: "v1@sha256:0" },
      });
      expect(await state.items.put(bare, never)).toBe("stored");
      expect(await state.items.get(key, never)).toEqual(bare);
      expect(await state.items.put(full, never)).toBe("stored");
      expect(await state.items.get(key, never)).toEqual(full);
    });

    test("fields that another release has added are kept by every write of this one", async () => {
      const foreign = { priority: 3, hints: { of: ["a later release"] } };
      await state.items.put(workItem(key, { foreign }), never);
      const found = await state.items.get(key, never);
      expect(found?.foreign).toEqual(foreign);
      await state.items.put({ ...(found ?? workItem(key)), version: 2, dueAt: 1 }, never);
      expect(await state.items.get(key, never)).toEqual(workItem(key, { version: 2, dueAt: 1, foreign }));
    });

    test("a first version is stored only if there is no item", async () => {
      expect(await state.items.put(workItem(key), never)).toBe("stored");
      expect(await state.items.put(workItem(key, { requested: 9 }), never)).toBe("conflict");
      expect(await state.items.get(key, never)).toEqual(workItem(key));
    });

    test.each([
      { name: "the same version again", version: 2 },
      { name: "an older version", version: 1 },
      { name: "a version that skips one", version: 4 },
    ])("$name is a conflict and changes nothing", async ({ version }) => {
      await state.items.put(workItem(key), never);
      await state.items.put(workItem(key, { version: 2, requested: 2 }), never);
      expect(await state.items.put(workItem(key, { version, requested: 9 }), never)).toBe("conflict");
      expect(await state.items.get(key, never)).toEqual(workItem(key, { version: 2, requested: 2 }));
    });

    test("of many writers of one version exactly one succeeds", async () => {
      await state.items.put(workItem(key), never);
      const tries = Array.from({ length: 20 }, (_, requested) =>
        state.items.put(workItem(key, { version: 2, requested }), never),
      );
      const answers = await Promise.all(tries);
      expect(answers.filter((answer) => answer === "stored")).toHaveLength(1);
      expect((await state.items.get(key, never))?.requested).toBe(answers.indexOf("stored"));
    });

    test("overdue lists items past wakeUntil, or past dueAt if no run is in progress, the longest overdue first", async () => {
      await state.items.put(workItem(keyOf("waiting"), { wakeUntil: 300, dueAt: 10 }), never);
      await state.items.put(workItem(keyOf("due"), { dueAt: 100 }), never);
      await state.items.put(workItem(keyOf("woken"), { wakeUntil: 200 }), never);
      await state.items.put(workItem(keyOf("idle")), never);
      const overdue = async (now: number): Promise<readonly string[]> =>
        (await overdueItems(state.items, now)).items.map((item) => item.key.name);
      await expect.poll(() => overdue(300)).toEqual(["due", "woken", "waiting"]);
      expect(await overdue(299)).toEqual(["due", "woken"]);
      expect(await overdue(99)).toEqual([]);
    });

    test("overdue items come in pages, each item once, whatever the caller writes in between", async () => {
      const wanted = Array.from({ length: 250 }, (_, number) => `web-${number}`);
      await mapLimit(wanted, 10, (name) => state.items.put(workItem(keyOf(name), { dueAt: 100 }), never), never);
      const now = 1_000_000;
      await expect.poll(async () => (await overdueItems(state.items, now)).items.length).toBe(250);
      const sizes: number[] = [];
      const seen: string[] = [];
      for await (const { items } of state.items.overdue(now, () => true, never)) {
        sizes.push(items.length);
        seen.push(...items.map(({ key: of }) => of.name));
        for (const item of items.slice(0, 20)) {
          await state.items.put({ ...item, version: 2, wakeUntil: now + 60_000 }, never);
        }
      }
      expect(Math.max(...sizes)).toBeLessThanOrEqual(overduePageSize);
      expect(seen.toSorted()).toEqual(wanted.toSorted());
    });

    test("overdue items of excluded clusters are skipped, even if the exclusion changes between pages", async () => {
      const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/dead";
      const long = "n".repeat(253);
      const longKey = { cluster: long, group: long, kind: long, namespace: long, name: long };
      const unwanted = Array.from({ length: 120 }, (_, number) => ({ ...keyOf(`dead-${number}`), cluster: arn }));
      await mapLimit(unwanted, 10, (each) => state.items.put(workItem(each, { dueAt: 1 }), never), never);
      await state.items.put(workItem(keyOf("web"), { dueAt: 100 }), never);
      await state.items.put(workItem(longKey, { dueAt: 100 }), never);
      const clusters = async (isWanted: (cluster: string) => boolean): Promise<readonly string[]> =>
        (await overdueItems(state.items, 1_000_000, isWanted)).items.map(({ key: of }) => of.cluster).toSorted();
      await expect.poll(() => clusters((cluster) => cluster !== arn)).toEqual(["home", long]);
      expect(await clusters((cluster) => cluster === "home")).toEqual(["home"]);
      expect(await clusters(() => false)).toEqual([]);
      // As a sweep does that has woken enough of it.
      let pages = 0;
      let dead = 0;
      const untilFirst = (cluster: string): boolean => cluster !== arn || pages === 0;
      for await (const { items } of state.items.overdue(1_000_000, untilFirst, never)) {
        pages += 1;
        dead += items.filter(({ key: of }) => of.cluster === arn).length;
      }
      expect(dead).toBeGreaterThan(0);
      expect(dead).toBeLessThanOrEqual(overduePageSize);
    });

    test("an item that no longer waits for anything leaves the list of overdue items", async () => {
      await state.items.put(workItem(key, { dueAt: 100 }), never);
      await state.items.put(workItem(key, { version: 2 }), never);
      await expect.poll(() => overdueItems(state.items, 100)).toEqual({ items: [], unreadable: [] });
    });

    test("an item whose key has the maximum length is stored like any other", async () => {
      const long = "n".repeat(253);
      const item = workItem({ cluster: long, group: long, kind: long, namespace: long, name: long }, { dueAt: 1 });
      await state.items.put(item, never);
      expect(await state.items.get(item.key, never)).toEqual(item);
      await expect.poll(() => overdueItems(state.items, 1)).toMatchObject({ items: [item] });
    });

    test("an item whose texts have the maximum length is stored like any other", async () => {
      const item = workItem(key, {
        fault: "\u{1F409}".repeat(250),
        input: "i".repeat(2_000),
        carried: { text: "m".repeat(4_000) },
        seen: { objectUid: "o".repeat(36), clusterUid: "c".repeat(36), revision: "r".repeat(1_000) },
      });
      await state.items.put(item, never);
      expect(await state.items.get(key, never)).toEqual(item);
    });

    test("a call under an aborted signal stores nothing", async () => {
      const stopped = AbortSignal.abort(new Error("time is up"));
      await expect(state.items.put(workItem(key), stopped)).rejects.toThrow("time is up");
      expect(await state.items.get(key, never)).toBeUndefined();
    });
  });
}
