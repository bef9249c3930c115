import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { keyOf, never, type OpenState, type StateBackEnd, workItem } from "./state-back-end.ts";

/** The index may lag behind, and calls may need several tries. */
const patience = { timeout: 20_000 };

export function workItemsContract(name: string, open: OpenState): void {
  describe(`work items: ${name}`, () => {
    let state: StateBackEnd;
    beforeEach(async () => {
      state = await open();
    });
    afterEach(() => state.close());

    const key = keyOf("web");

    test("an item that nobody stored is undefined", async () => {
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
        memo: { since: 12, list: ["a", null, { b: true }] },
        seen: { objectUid: "u1", clusterUid: "c1", revision: "v1@sha256:0" },
      });
      expect(await state.items.put(bare, never)).toBe("stored");
      expect(await state.items.get(key, never)).toEqual(bare);
      expect(await state.items.put(full, never)).toBe("stored");
      expect(await state.items.get(key, never)).toEqual(full);
    });

    test("fields that another release has added come back with every write of this one", async () => {
      const foreign = { priority: 3, hints: { of: ["a later release"] } };
      await state.items.put(workItem(key, { foreign }), never);
      const found = await state.items.get(key, never);
      expect(found?.foreign).toEqual(foreign);
      await state.items.put({ ...(found ?? workItem(key)), version: 2, dueAt: 1 }, never);
      expect(await state.items.get(key, never)).toEqual(workItem(key, { version: 2, dueAt: 1, foreign }));
    });

    test("a first version is stored only where there is no item", async () => {
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

    test("of many writers of one version exactly one is answered stored", async () => {
      await state.items.put(workItem(key), never);
      const tries = Array.from({ length: 20 }, (_, requested) =>
        state.items.put(workItem(key, { version: 2, requested }), never),
      );
      const answers = await Promise.all(tries);
      expect(answers.filter((answer) => answer === "stored")).toHaveLength(1);
      expect((await state.items.get(key, never))?.requested).toBe(answers.indexOf("stored"));
    });

    test("overdue lists what is past wakeUntil, or past dueAt where nothing is under way, the longest overdue first", async () => {
      await state.items.put(workItem(keyOf("waiting"), { wakeUntil: 300, dueAt: 10 }), never);
      await state.items.put(workItem(keyOf("due"), { dueAt: 100 }), never);
      await state.items.put(workItem(keyOf("woken"), { wakeUntil: 200 }), never);
      await state.items.put(workItem(keyOf("idle")), never);
      const overdue = async (now: number, limit: number): Promise<readonly string[]> =>
        (await state.items.overdue(now, limit, never)).items.map((item) => item.key.name);
      await expect.poll(() => overdue(300, 10), patience).toEqual(["due", "woken", "waiting"]);
      expect(await overdue(299, 10)).toEqual(["due", "woken"]);
      expect(await overdue(300, 1)).toEqual(["due"]);
      expect(await overdue(99, 10)).toEqual([]);
    });

    test("an item that has nothing to wait for any more leaves the list of the overdue", async () => {
      await state.items.put(workItem(key, { dueAt: 100 }), never);
      await state.items.put(workItem(key, { version: 2 }), never);
      await expect.poll(() => state.items.overdue(100, 10, never), patience).toEqual({ items: [], unreadable: [] });
    });

    test("an item whose key has the greatest length that a key may have is kept like any other", async () => {
      const long = "n".repeat(253);
      const item = workItem({ cluster: long, group: long, kind: long, namespace: long, name: long }, { dueAt: 1 });
      await state.items.put(item, never);
      expect(await state.items.get(item.key, never)).toEqual(item);
      await expect.poll(() => state.items.overdue(1, 10, never), patience).toMatchObject({ items: [item] });
    });

    test("an item whose texts have the greatest length that they may have is kept like any other", async () => {
      const item = workItem(key, {
        fault: "\u{1F409}".repeat(250),
        input: "i".repeat(2_000),
        memo: { text: "m".repeat(4_000) },
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
