import { describe, expect, test } from "vitest";
import type { Failure } from "../../../../lib/core/failure.ts";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
import { LeaseLost } from "../../../../lib/core/ports/fence.ts";
import { Outage } from "../../../../lib/core/ports/outage.ts";
import type { FlowResult, Run } from "../../../../lib/core/ports/run.ts";
import type { RunTiming } from "../../../../lib/flows/interval.ts";
import { retryOutages } from "../../../../lib/flows/kinds/outages.ts";
import { silentLog } from "../../../doubles/silent-log.ts";

const key = { cluster: "c", group: "g", kind: "Kustomization", namespace: "t", name: "x" };
const run = (carried: Run["carried"]): Run => ({
  key,
  carried,
  signal: new AbortController().signal,
  fence: { key, token: 1 },
  assertLease: () => {},
  isRequested: true,
  superseded: async () => false,
});
const answer = (code: number, reason: string) => new ApiError({ code, reason, message: `the server says ${reason}` });

/** A flow that fails as long as `fault` says so, run again and again as the queue does it: each time when it is due. */
function outlasting(
  fault: () => Error | undefined,
  report: (failure: Failure, wasReported: boolean) => Promise<void> = async () => {},
  timing?: Pick<RunTiming, "retryDelay">,
) {
  const reported: { readonly text: string; readonly wasReported: boolean }[] = [];
  let now = 0;
  let carried: Run["carried"] = { failures: 2 };
  const flow = retryOutages(
    async (): Promise<FlowResult> => {
      const error = fault();
      if (error !== undefined) throw error;
      return { outcome: "applied", dueInMs: 600_000, carried: { failures: 0 } };
    },
    {
      clock: { now: () => now },
      log: silentLog,
      timing,
      report: async (_run, failure, wasReported) => {
        reported.push({ text: `${failure.reason}: ${failure.message}`, wasReported });
        await report(failure, wasReported);
      },
    },
  );
  return {
    reported,
    async next(): Promise<FlowResult> {
      const result = await flow(run(carried));
      ({ carried } = result);
      now += result.dueInMs ?? 0;
      return result;
    },
    async for(ms: number): Promise<void> {
      const until = now + ms;
      while (now < until) await this.next();
    },
  };
}

describe("a run that is stopped by an outage", () => {
  test.each([
    [0, "Unreachable"],
    [403, "Forbidden"],
    [429, "TooManyRequests"],
    [503, "ServiceUnavailable"],
  ])("%d %s is retried with back-off, and the flow's carried state is kept", async (code, reason) => {
    const object = outlasting(() => answer(code, reason));
    expect(await object.next()).toMatchObject({ outcome: "unreachable", dueInMs: 750, carried: { failures: 2 } });
    expect(await object.next()).toMatchObject({ dueInMs: 1_500, carried: { failures: 2 } });
    await object.for(86_400_000);
    expect(await object.next()).toMatchObject({ dueInMs: 900_000 });
  });

  test("waits between min-retry-delay and max-retry-delay", async () => {
    const timing = { retryDelay: { minMs: 2_000, maxMs: 5_000 } };
    const object = outlasting(() => answer(503, "ServiceUnavailable"), undefined, timing);
    const waits = [await object.next(), await object.next(), await object.next()];
    expect(waits.map(({ dueInMs }) => dueInMs)).toEqual([2_000, 4_000, 5_000]);
  });

  test("rethrows an error if the API server calls the request malformed", async () => {
    await expect(outlasting(() => answer(422, "Invalid")).next()).rejects.toThrow("Invalid");
  });

  test("rethrows any other error", async () => {
    await expect(outlasting(() => new TypeError("a bug")).next()).rejects.toThrow("a bug");
  });
});

describe("an outage is reported", () => {
  test("only after 20 s, so that Ready does not flap", async () => {
    const object = outlasting(() => answer(503, "ServiceUnavailable"));
    await object.for(15_000);
    expect(object.reported).toEqual([]);
  });

  test("within 45 s, with its own reason or that of an apply, and then at each retry", async () => {
    const api = outlasting(() => answer(503, "ServiceUnavailable"));
    await api.for(45_000);
    expect(api.reported[0]).toEqual({
      text: "ReconciliationFailed: the server says ServiceUnavailable",
      wasReported: false,
    });
    await api.for(600_000);
    expect(api.reported.length).toBeGreaterThan(2);
    expect(api.reported.slice(1).every(({ wasReported }) => wasReported)).toBe(true);

    const store = outlasting(() => new Outage("ArtifactFailed", "failed to download archive: no"));
    await store.for(45_000);
    expect(store.reported[0]?.text).toBe("ArtifactFailed: failed to download archive: no");
  });

  test("again if it starts again after a recovery", async () => {
    let fault: Error | undefined = answer(503, "ServiceUnavailable");
    const object = outlasting(() => fault);
    await object.for(60_000);
    fault = undefined;
    expect(await object.next()).toMatchObject({ outcome: "applied", carried: { failures: 0 } });
    fault = answer(503, "ServiceUnavailable");
    const before = object.reported.length;
    await object.for(15_000);
    expect(object.reported).toHaveLength(before);
    await object.for(45_000);
    expect(object.reported[before]?.wasReported).toBe(false);
  });

  test("as soon as the cluster accepts writes, if the cluster itself was down", async () => {
    let isDown = true;
    const object = outlasting(
      () => answer(0, "Unreachable"),
      async () => {
        if (isDown) throw answer(0, "Unreachable");
      },
    );
    await object.for(60_000);
    expect(object.reported.map(({ wasReported }) => wasReported)).not.toContain(true);
    isDown = false;
    await object.next();
    await object.next();
    expect(object.reported.slice(-2).map(({ wasReported }) => wasReported)).toEqual([false, true]);
  });

  test("without effect while the owner of the cluster is unknown, and such a run does not count as an attempt", async () => {
    const unknown = new Outage("ReconciliationFailed", "whose this cluster is cannot be told");
    const object = outlasting(
      () => unknown,
      () => Promise.reject(unknown),
    );
    await object.for(60_000);
    expect(object.reported.map(({ wasReported }) => wasReported)).not.toContain(true);
    expect(await object.next()).toMatchObject({ outcome: "unreachable" });
  });

  test("only while the lease is held", async () => {
    const object = outlasting(
      () => answer(503, "ServiceUnavailable"),
      () => Promise.reject(new LeaseLost("another holds it")),
    );
    await expect(object.for(60_000)).rejects.toThrow(LeaseLost);
  });
});
