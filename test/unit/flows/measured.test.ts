import { describe, expect, test } from "vitest";
import type { Clock } from "../../../lib/core/ports/clock.ts";
import type { Flow, Run } from "../../../lib/core/ports/run.ts";
import { GateClosed } from "../../../lib/core/ports/write-gate.ts";
import { measured } from "../../../lib/flows/measured.ts";
import { Shutdown } from "../../../lib/queue/run-under-lease.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";

const key = { cluster: "c", group: "g", kind: "Kustomization", namespace: "apps", name: "web" };

/** A run whose flow takes 40 ms on a virtual clock. */
function measure(flow: Flow, stopped?: unknown) {
  let passedMs = 1_000;
  const clock: Clock = { now: () => 0, monotonic: () => passedMs, sleep: async () => undefined };
  const metrics = recordedMetrics();
  const stop = new AbortController();
  if (stopped !== undefined) stop.abort(stopped);
  const fence = { key, token: 1 };
  const run: Run = {
    ...{ key, fence, carried: undefined, signal: stop.signal },
    assertLease: () => {},
    isRequested: true,
    superseded: async () => false,
  };
  const slow: Flow = (each) => {
    passedMs += 40;
    return flow(each);
  };
  return { ended: measured(slow, { metrics, clock })(run), recorded: metrics.recorded };
}

const broken: Flow = () => Promise.reject(new Error("a bug"));

describe("the metrics of a run", () => {
  test.each([
    { outcome: "applied", counts: {} },
    { outcome: "waiting", counts: {} },
    { outcome: "failed", counts: { ReconcilesFailed: 1 } },
    { outcome: "stalled", counts: { ReconcilesFailed: 1 } },
    { outcome: "unreachable", counts: { ReconcilesFailed: 1 } },
  ])("that ends with $outcome count $counts", async ({ outcome, counts }) => {
    const { ended, recorded } = measure(async () => ({ outcome, dueInMs: 5 }));
    expect(await ended).toMatchObject({ outcome, dueInMs: 5 });
    expect(recorded).toEqual([["Kustomization/apps/web", { ReconcileDuration: 40, ...counts }, { outcome }]]);
  });

  test("are not written for a run that changes and announces nothing", async () => {
    const { ended, recorded } = measure(async () => ({ outcome: "applied", dueInMs: 5, isQuiet: true }));
    await ended;
    expect(recorded).toEqual([]);
  });

  test("count a run that throws as failed, and the error is rethrown", async () => {
    const { ended, recorded } = measure(broken);
    await expect(ended).rejects.toThrow("a bug");
    expect(recorded).toEqual([
      ["Kustomization/apps/web", { ReconcileDuration: 40, ReconcilesFailed: 1 }, { outcome: "error" }],
    ]);
  });

  test("do not count a run as failed that stops because the cluster belongs to another installation", async () => {
    const { ended, recorded } = measure(() => Promise.reject(new GateClosed("this cluster belongs to another Sluice")));
    await expect(ended).rejects.toThrow(GateClosed);
    expect(recorded[0]?.slice(1)).toEqual([{ ReconcileDuration: 40 }, { outcome: "refused" }]);
  });

  test("do not count a run as failed that is handed back because the process shuts down", async () => {
    const { ended, recorded } = measure(broken, new Shutdown("the process ends"));
    await expect(ended).rejects.toThrow("a bug");
    expect(recorded[0]?.slice(1)).toEqual([{ ReconcileDuration: 40 }, { outcome: "handedBack" }]);
  });
});
