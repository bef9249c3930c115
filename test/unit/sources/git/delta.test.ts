import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyDelta, readDeltaHeader } from "../../../../lib/sources/git/delta.ts";
import { type DeltaStep, deltaOf } from "./pack-of.ts";

const base = Buffer.from("0123456789");

function reject(why: string): unknown {
  return expect.objectContaining({ name: "GitFault", reason: "protocol", message: expect.stringContaining(why) });
}

describe("a delta", () => {
  test("copies from its base and inserts", () => {
    const steps: DeltaStep[] = [{ from: 8, length: 2 }, { insert: Buffer.from("ab") }, { from: 0, length: 1 }];
    expect(applyDelta(base, deltaOf(10, 5, steps)).toString()).toBe("89ab0");
    expect(readDeltaHeader(deltaOf(10, 5, steps))).toMatchObject({ baseBytes: 10, resultBytes: 5 });
  });

  test("makes what its steps say, for any base and steps", () => {
    const sizes = fc.tuple(fc.nat({ max: 70_000 }), fc.integer({ min: 1, max: 70_000 }));
    const insert = fc.record({ insert: fc.uint8Array({ minLength: 1, maxLength: 127 }) });
    fc.assert(
      fc.property(
        fc.array(fc.oneof(sizes, insert), { maxLength: 10 }),
        fc.uint8Array({ size: "+1" }),
        (wanted, seed) => {
          const large = Buffer.alloc(140_001, Buffer.concat([Buffer.from("x"), seed]));
          const steps = wanted.map((step) => (Array.isArray(step) ? { from: step[0], length: step[1] } : step));
          const result = Buffer.concat(
            steps.map((step) => ("insert" in step ? step.insert : large.subarray(step.from, step.from + step.length))),
          );
          expect(applyDelta(large, deltaOf(large.length, result.length, steps)).equals(result)).toBe(true);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("of no length in a copy means 65,536 bytes", () => {
    const large = Buffer.alloc(65_536, "ab");
    expect(applyDelta(large, deltaOf(65_536, 65_536, [{ from: 0, length: 0 }])).equals(large)).toBe(true);
  });

  test.each<[title: string, delta: Buffer, why: string]>([
    ["for a base of another length", deltaOf(9, 1, [{ from: 0, length: 1 }]), "of another length"],
    ["that copies beyond its base", deltaOf(10, 11, [{ from: 0, length: 11 }]), "reaches beyond"],
    ["that copies from beyond its base", deltaOf(10, 1, [{ from: 2 ** 31, length: 1 }]), "reaches beyond"],
    ["that makes more than it says", deltaOf(10, 1, [{ from: 0, length: 2 }]), "reaches beyond"],
    ["that makes less than it says", deltaOf(10, 3, [{ from: 0, length: 2 }]), "another length than it says"],
    ["that inserts beyond its end", Buffer.from([10, 5, 5, 1]), "reaches beyond"],
    ["with an unknown instruction", Buffer.from([10, 1, 0]), "unknown instruction"],
    ["that ends within an instruction", Buffer.from([10, 1, 0x91]), "ends within"],
    ["without its lengths", Buffer.from([10]), "has no end"],
    ["whose length has no end", Buffer.alloc(100, 0xff), "has no end"],
  ])("%s is damaged", (_, delta, why) => {
    expect(() => applyDelta(base, delta)).toThrow(reject(why));
  });

  test("of any bytes gives a result of its length or a fault", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const delta = Buffer.concat([Buffer.from([base.length]), bytes]);
        try {
          const { resultBytes } = readDeltaHeader(delta);
          fc.pre(resultBytes < 1_000_000);
          expect(applyDelta(base, delta)).toHaveLength(resultBytes);
        } catch (error) {
          if (!(error instanceof Error) || error.name !== "GitFault") throw error;
        }
      }),
    );
  });
});
