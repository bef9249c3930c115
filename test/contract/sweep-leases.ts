import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SweepLeases } from "../../lib/core/ports/sweep-leases.ts";
import { never } from "./state-back-end.ts";

export interface SweepLeasesBackEnd {
  readonly sweepLeases: SweepLeases;
  close(): Promise<void>;
}

const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
/** Longer than any suite takes. */
const long = 3_600_000;

export function sweepLeasesContract(name: string, open: () => Promise<SweepLeasesBackEnd>): void {
  describe(`sweep leases: ${name}`, () => {
    let backEnd: SweepLeasesBackEnd;
    let leases: SweepLeases;
    beforeEach(async () => {
      backEnd = await open();
      leases = backEnd.sweepLeases;
    });
    afterEach(() => backEnd.close());

    test("the lease of a cluster has one holder, who may renew it", async () => {
      expect(await leases.take(arn, "one", long, never)).toBe(true);
      expect(await leases.take(arn, "two", long, never)).toBe(false);
      expect(await leases.take(arn, "one", long, never)).toBe(true);
      expect(await leases.take(arn, "two", long, never)).toBe(false);
    });

    test("an expired lease goes to the next caller", async () => {
      expect(await leases.take(arn, "one", 0, never)).toBe(true);
      expect(await leases.take(arn, "two", long, never)).toBe(true);
      expect(await leases.take(arn, "one", long, never)).toBe(false);
    });

    test("of many concurrent callers one gets the lease", async () => {
      const asked = Array.from({ length: 10 }, (_, index) => leases.take(arn, `h${index}`, long, never));
      expect((await Promise.all(asked)).filter(Boolean)).toEqual([true]);
    });

    test("leases of clusters are separate, even if one id starts with another", async () => {
      for (const cluster of [arn, `${arn}-2`, arn.slice(0, -1), "home", "n".repeat(1_000)]) {
        expect(await leases.take(cluster, cluster, long, never)).toBe(true);
      }
    });

    test("a call under an aborted signal takes no lease", async () => {
      const stopped = AbortSignal.abort(new Error("time is up"));
      await expect(leases.take(arn, "one", long, stopped)).rejects.toThrow("time is up");
      expect(await leases.take(arn, "two", long, never)).toBe(true);
    });
  });
}
