import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LeaseLost } from "../../lib/core/ports/fence.ts";
import type { StoredTags } from "../../lib/core/ports/image-tags.ts";
import { interruption, keyOf, leased, never, type OpenState, type StateBackEnd } from "./state-back-end.ts";

/** So many tags that hardly compress, of 128 characters each. */
function tagsOf(count: number, name: string): readonly string[] {
  return Array.from({ length: count }, (_, index) =>
    createHash("sha512").update(`${name} ${index}`).digest("hex").slice(0, 128),
  );
}

const few: StoredTags = { tags: ["1.1.0", "1.0.0", '"\n\u2028é'], revision: "1" };

export function imageTagsContract(name: string, open: OpenState): void {
  describe(`image tags: ${name}`, () => {
    let state: StateBackEnd;
    beforeEach(async () => {
      state = await open();
    });
    afterEach(() => state.close());

    const key = keyOf("app");
    const get = () => state.imageTags.get(key, never);
    const put = async (stored: StoredTags) => state.imageTags.put(stored, await leased(state, key), never);

    test("a repository without a scan has no tags", async () => {
      expect([await get(), await state.imageTags.describe(key, never)]).toEqual([undefined, undefined]);
    });

    test("tags are read at once, unchanged and in the order in which they were stored", async () => {
      await put(few);
      expect(await get()).toEqual(few);
      expect(await state.imageTags.describe(key, never)).toEqual({ revision: "1", count: 3 });
    });

    test("an empty set of tags can be stored", async () => {
      await put({ tags: [], revision: "18153657" });
      expect(await get()).toEqual({ tags: [], revision: "18153657" });
      expect(await state.imageTags.describe(key, never)).toEqual({ revision: "18153657", count: 0 });
    });

    test("each object has its own tags", async () => {
      await put(few);
      expect(await state.imageTags.get(keyOf("another"), never)).toBeUndefined();
    });

    test("10,000 long tags are stored completely, and so is a short set that replaces them", async () => {
      const many = { tags: tagsOf(10_000, "a"), revision: "2" };
      await put(few);
      await put(many);
      expect(await get()).toEqual(many);
      expect(await state.imageTags.describe(key, never)).toEqual({ revision: "2", count: 10_000 });
      await put(few);
      expect(await get()).toEqual(few);
    });

    test("tags with the same revision, which a checksum may have, replace the former ones", async () => {
      await put(few);
      await put({ ...few, tags: ["2.0.0"] });
      expect((await get())?.tags).toEqual(["2.0.0"]);
    });

    test("an interrupted write keeps the old tags or the new ones, and the next one succeeds", async () => {
      const [first, second] = [tagsOf(5_000, "a"), tagsOf(5_000, "b")];
      await put({ tags: first, revision: "1" });
      const fence = await leased(state, key);
      const stopped = state.imageTags.put({ tags: second, revision: "2" }, fence, state.interruptedAfter(1));
      const thrown = await stopped.then(
        () => undefined,
        (error: unknown) => error,
      );
      expect([undefined, interruption]).toContain(thrown);
      expect(await get()).toEqual(
        thrown === undefined ? { tags: second, revision: "2" } : { tags: first, revision: "1" },
      );
      await put({ tags: second, revision: "2" });
      expect(await get()).toEqual({ tags: second, revision: "2" });
    });

    test("a holder that lost its lease neither writes nor removes", async () => {
      const late = await leased(state, key);
      await state.imageTags.put(few, late, never);
      await leased(state, key);
      const other = { tags: tagsOf(5_000, "late"), revision: "9" };
      await expect(state.imageTags.put(other, late, never)).rejects.toThrow(LeaseLost);
      await expect(state.imageTags.remove(late, never)).rejects.toThrow(LeaseLost);
      expect(await get()).toEqual(few);
    });

    test("removed tags are gone, and removing them again changes nothing", async () => {
      const fence = await leased(state, key);
      await state.imageTags.put({ tags: tagsOf(5_000, "a"), revision: "1" }, fence, never);
      await state.imageTags.remove(fence, never);
      await state.imageTags.remove(fence, never);
      expect(await get()).toBeUndefined();
    });

    test("a call under an aborted signal changes nothing and reads nothing", async () => {
      const fence = await leased(state, key);
      const stopped = AbortSignal.abort(new Error("time is up"));
      await expect(state.imageTags.put(few, fence, stopped)).rejects.toThrow("time is up");
      await expect(state.imageTags.get(key, stopped)).rejects.toThrow("time is up");
      await expect(state.imageTags.describe(key, stopped)).rejects.toThrow("time is up");
      await expect(state.imageTags.remove(fence, stopped)).rejects.toThrow("time is up");
      expect(await get()).toBeUndefined();
    });
  });
}
