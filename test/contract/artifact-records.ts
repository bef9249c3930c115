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

    test("only what this very source stored is recorded", async () => {
      const fence = await leased(state, source);
      await state.records.record(source, "uid-1", digest, fence, never);
      await state.records.record(source, "uid-1", digest, fence, never);
      expect(await state.records.recorded(source, "uid-1", digest, never)).toBe(true);
      expect(await state.records.recorded(source, "uid-2", digest, never)).toBe(false);
      expect(await state.records.recorded(keyOf("another"), "uid-1", digest, never)).toBe(false);
      expect(await state.records.recorded(source, "uid-1", digestOf("forged"), never)).toBe(false);
    });

    test("a holder whose lease was taken over records nothing", async () => {
      const fence = await leased(state, source);
      await leased(state, source);
      await expect(state.records.record(source, "uid-1", digest, fence, never)).rejects.toThrow(LeaseLost);
      expect(await state.records.recorded(source, "uid-1", digest, never)).toBe(false);
    });
  });
}
