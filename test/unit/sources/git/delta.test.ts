import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TimeSlices } from "../../../../lib/core/concurrency.ts";
import { applyDelta, readDeltaHeader } from "../../../../lib/sources/git/delta.ts";
import { type DeltaStep, deltaOf } from "./pack-of.ts";

const base = Buffer.from("0123456789");
const noPause: TimeSlices = { isOver: () => false, pause: () => Promise.reject(new Error("not to be called")) };
const apply = (from: Uint8Array, delta: Uint8Array, slices = noPause): Promise<Buffer> =>
  applyDelta(from, delta, slices);

function reject(why: string): unknown {
  return expect.objectContaining({ name: "GitFault", reason: "protocol", message: expect.stringContaining(why) });
}

describe("a delta of a git object", () => {
  test("copies from its base and inserts", async () => {
    const steps: DeltaStep[] = [{ from: 8, length: 2 }, { insert: Buffer.from("ab") }, { from: 0, length: 1 }];
    expect((await apply(base, deltaOf(10, 5, steps))).toString()).toBe("89ab0");
    expect(readDeltaHeader(deltaOf(10, 5, steps))).toMatchObject({ baseBytes: 10, resultBytes: 5 });
  });

  test("gives the same bytes as its steps, for any base and steps", async () => {
    const sizes = fc.tuple(fc.nat({ max: 70_000 }), fc.integer({ min: 1, max: 70_000 }));
    const insert = fc.record({ insert: fc.uint8Array({ minLength: 1, maxLength: 127 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(sizes, insert), { maxLength: 10 }),
        fc.uint8Array({ size: "+1" }),
        async (wanted, seed) => {
          const large = Buffer.alloc(140_001, Buffer.concat([Buffer.from("x"), seed]));
          const steps = wanted.map((step) => (Array.isArray(step) ? { from: step[0], length: step[1] } : step));
          const result = Buffer.concat(
            steps.map((step) => ("insert" in step ? step.insert : large.subarray(step.from, step.from + step.length))),
          );
          expect((await apply(large, deltaOf(large.length, result.length, steps))).equals(result)).toBe(true);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("with many instructions lets other work run in between, and stops if it is aborted", async () => {
    const letters = Array.from({ length: 10_000 }, () => ({ insert: Buffer.from("a") }));
    const delta = deltaOf(base.length, letters.length, letters);
    let pauses = 0;
    const slices: TimeSlices = { isOver: () => true, pause: async () => void pauses++ };
    expect((await apply(base, delta, slices)).toString()).toBe("a".repeat(letters.length));
    expect(pauses).toBeGreaterThan(5);
    const aborted: TimeSlices = { isOver: () => true, pause: () => Promise.reject(new Error("aborted")) };
    await expect(apply(base, delta, aborted)).rejects.toThrow("aborted");
  });

  test("with length 0 in a copy copies 65,536 bytes", async () => {
    const large = Buffer.alloc(65_536, "ab");
    expect((await apply(large, deltaOf(65_536, 65_536, [{ from: 0, length: 0 }]))).equals(large)).toBe(true);
  });

  test.each<[title: string, delta: Buffer, why: string]>([
    ["for a base of another length", deltaOf(9, 1, [{ from: 0, length: 1 }]), "of another length"],
    ["that copies beyond its base", deltaOf(10, 11, [{ from: 0, length: 11 }]), "reaches beyond"],
    ["that copies from beyond its base", deltaOf(10, 1, [{ from: 2 ** 31, length: 1 }]), "reaches beyond"],
    ["that makes more bytes than it declares", deltaOf(10, 1, [{ from: 0, length: 2 }]), "reaches beyond"],
    [
      "that makes fewer bytes than it declares",
      deltaOf(10, 3, [{ from: 0, length: 2 }]),
      "another length than it says",
    ],
    ["that inserts past its end", Buffer.from([10, 5, 5, 1]), "reaches beyond"],
    ["with an unknown instruction", Buffer.from([10, 1, 0]), "unknown instruction"],
    ["that ends inside an instruction", Buffer.from([10, 1, 0x91]), "ends within"],
    ["without its lengths", Buffer.from([10]), "has no end"],
    ["whose length never ends", Buffer.alloc(100, 0xff), "has no end"],
  ])("%s is damaged", async (_, delta, why) => {
    await expect(apply(base, delta)).rejects.toEqual(reject(why));
  });

  test("of arbitrary bytes gives a result of the declared length or a failure", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
        const delta = Buffer.concat([Buffer.from([base.length]), bytes]);
        try {
          const { resultBytes } = readDeltaHeader(delta);
          fc.pre(resultBytes < 1_000_000);
          expect(await apply(base, delta)).toHaveLength(resultBytes);
        } catch (error) {
          if (!(error instanceof Error) || error.name !== "GitFault") throw error;
        }
      }),
    );
  });
});
