import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rules } from "../../../lib/queue/rules.ts";
import { attemptBackOffMs, leaseMs, marginMs, renewEveryMs } from "../../../lib/queue/timing.ts";

describe("a lease holder", () => {
  test("can try three times to renew its lease before it has to stop", () => {
    expect(3 * renewEveryMs).toBeLessThanOrEqual(leaseMs - marginMs);
  });

  test.for([
    { name: "may write within 45 s of its last renewal", wall: 44_999, monotonic: 44_999, allowed: true },
    { name: "stops at 45 s", wall: 45_000, monotonic: 45_000, allowed: false },
    {
      name: "stops even if only the wall clock says so: the machine was frozen",
      wall: 50_000,
      monotonic: 10,
      allowed: false,
    },
    {
      name: "stops even if only the monotonic clock says so: the wall clock was set back",
      wall: -90_000,
      monotonic: 50_000,
      allowed: false,
    },
  ])("$name", ({ wall, monotonic, allowed }) => {
    const renewed = { wall: 5_000_000, monotonic: 300 };
    expect(rules.mayWrite(renewed, { wall: renewed.wall + wall, monotonic: renewed.monotonic + monotonic })).toBe(
      allowed,
    );
  });
});

describe("back-off", () => {
  test("starts at 750 ms, never shrinks and never exceeds 15 minutes", () => {
    expect([1, 2, 3, 4].map(attemptBackOffMs)).toEqual([750, 1_500, 3_000, 6_000]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), (attempts) => {
        expect(attemptBackOffMs(attempts + 1)).toBeGreaterThanOrEqual(attemptBackOffMs(attempts));
        expect(attemptBackOffMs(attempts)).toBeLessThanOrEqual(900_000);
      }),
    );
  });
});
