import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digestOf } from "../../lib/core/digest.ts";
import { LeaseLost } from "../../lib/core/ports/fence.ts";
import { keyOf, leased, never, type OpenState, type StateBackEnd } from "./state-back-end.ts";

export function artifactRecordsContract(name: string, open: OpenState): void {
  describe(`artifact records: ${name}`, () => {
    let state: StateBackEnd;
    beforeEach(async () => {
      state = await open();
    });
    afterEach(() => state.close());

    const source = keyOf("source");
    const digest = digestOf("artifact");

    test("only records of this source are written", async () => {
      const fence = await leased(state, source);
      await state.records.record(source, "uid-1", digest, fence, never);
      await state.records.record(source, "uid-1", digest, fence, never);
      expect(await state.records.recorded(source, "uid-1", digest, never)).toBe(true);
      expect(await state.records.recorded(source, "uid-2", digest, never)).toBe(false);
      expect(await state.records.recorded(keyOf("another"), "uid-1", digest, never)).toBe(false);
      expect(await state.records.recorded(source, "uid-1", digestOf("forged"), never)).toBe(false);
      const elsewhere = { ...source, namespace: `${source.namespace}-2` };
      expect(await state.records.recorded(elsewhere, "uid-1", digest, never)).toBe(false);
    });

    test("records that are not retained are removed: other digests and other uids of the source, but nothing of another source", async () => {
      const fence = await leased(state, source);
      const namesake = { ...source, name: `${source.name}-2` };
      const others = await leased(state, namesake);
      const digests = Array.from({ length: 102 }, (_, number) => digestOf(`artifact ${number}`));
      for (const each of digests) await state.records.record(source, "uid-1", each, fence, never);
      await state.records.record(source, "uid-0", digest, fence, never);
      await state.records.record(namesake, "uid-1", digest, others, never);
      await state.records.retain(source, "uid-1", digests.slice(-2), fence, never);
      const isKept = (at: number) => state.records.recorded(source, "uid-1", digests.at(at) ?? digest, never);
      expect([await isKept(0), await isKept(50), await isKept(-3)]).toEqual([false, false, false]);
      expect([await isKept(-2), await isKept(-1)]).toEqual([true, true]);
      expect(await state.records.recorded(source, "uid-0", digest, never)).toBe(false);
      expect(await state.records.recorded(namesake, "uid-1", digest, never)).toBe(true);
      await state.records.retain(source, "uid-1", digests.slice(-2), fence, never);
      await state.records.retain(source, "uid-1", [], fence, never);
      expect(await isKept(-1)).toBe(false);
    });

    test("the digests of all records are listed once each, and those of removed records not at all", async () => {
      const digests = Array.from({ length: 60 }, (_, number) => digestOf(`artifact ${number}`));
      const sources = ["a", "b"].map(keyOf);
      for (const each of sources) {
        const fence = await leased(state, each);
        for (const one of digests) await state.records.record(each, "uid-1", one, fence, never);
      }
      expect([...(await state.records.digests(never))].toSorted()).toEqual(digests.toSorted());
      for (const each of sources) {
        await state.records.retain(each, "uid-1", digests.slice(0, 2), await leased(state, each), never);
      }
      expect([...(await state.records.digests(never))].toSorted()).toEqual(digests.slice(0, 2).toSorted());
      await expect(state.records.digests(AbortSignal.abort(new Error("time is up")))).rejects.toThrow("time is up");
    });

    test("a call under an aborted signal records nothing and removes nothing", async () => {
      const fence = await leased(state, source);
      const stopped = AbortSignal.abort(new Error("time is up"));
      await state.records.record(source, "uid-1", digest, fence, never);
      const other = digestOf("another");
      await expect(state.records.record(source, "uid-1", other, fence, stopped)).rejects.toThrow("time is up");
      await expect(state.records.retain(source, "uid-1", [], fence, stopped)).rejects.toThrow("time is up");
      expect(await state.records.recorded(source, "uid-1", digest, never)).toBe(true);
      expect(await state.records.recorded(source, "uid-1", other, never)).toBe(false);
    });

    test("a holder that lost its lease removes nothing", async () => {
      const fence = await leased(state, source);
      await state.records.record(source, "uid-1", digest, fence, never);
      await leased(state, source);
      await expect(state.records.retain(source, "uid-1", [], fence, never)).rejects.toThrow(LeaseLost);
      expect(await state.records.recorded(source, "uid-1", digest, never)).toBe(true);
    });

    test("a holder that lost its lease records nothing", async () => {
      const fence = await leased(state, source);
      await leased(state, source);
      await expect(state.records.record(source, "uid-1", digest, fence, never)).rejects.toThrow(LeaseLost);
      expect(await state.records.recorded(source, "uid-1", digest, never)).toBe(false);
    });
  });
}
