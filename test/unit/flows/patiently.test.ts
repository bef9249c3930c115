import { describe, expect, test } from "vitest";
import type { Failure } from "../../../lib/core/failure.ts";
import { Outage } from "../../../lib/core/outage.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { LeaseLost } from "../../../lib/core/ports/fence.ts";
import type { FlowResult, Run } from "../../../lib/core/run.ts";
import { patiently } from "../../../lib/flows/patiently.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const key = { cluster: "c", group: "g", kind: "Kustomization", namespace: "t", name: "x" };
const run = (memo: Run["memo"]): Run => ({
  key,
  memo,
  signal: new AbortController().signal,
  fence: { key, token: 1 },
  assertLease: () => {},
  superseded: async () => false,
});
const answer = (code: number, reason: string) => new ApiError({ code, reason, message: `the server says ${reason}` });

/** A flow that fails as long as `fault` says so, run again and again as the queue does it: each time when it is due. */
function patient(
  fault: () => Error | undefined,
  tell: (failure: Failure, wasTold: boolean) => Promise<void> = async () => {},
) {
  const told: { readonly text: string; readonly wasTold: boolean }[] = [];
  let now = 0;
  let memo: Run["memo"] = { failures: 2 };
  const flow = patiently(
    async (): Promise<FlowResult> => {
      const error = fault();
      if (error !== undefined) throw error;
      return { outcome: "applied", dueInMs: 600_000, memo: { failures: 0 } };
    },
    {
      clock: { now: () => now },
      log: silentLog,
      tell: async (_run, failure, wasTold) => {
        told.push({ text: `${failure.reason}: ${failure.message}`, wasTold });
        await tell(failure, wasTold);
      },
    },
  );
  return {
    told,
    async next(): Promise<FlowResult> {
      const result = await flow(run(memo));
      ({ memo } = result);
      now += result.dueInMs ?? 0;
      return result;
    },
    async for(ms: number): Promise<void> {
      const until = now + ms;
      while (now < until) await this.next();
    },
  };
}

describe("a run that something outside keeps from its end", () => {
  test.each([
    [0, "Unreachable"],
    [403, "Forbidden"],
    [429, "TooManyRequests"],
    [503, "ServiceUnavailable"],
  ])("%d %s is waited out with back-off, the flow's own memo kept", async (code, reason) => {
    const object = patient(() => answer(code, reason));
    expect(await object.next()).toMatchObject({ outcome: "unreachable", dueInMs: 750, memo: { failures: 2 } });
    expect(await object.next()).toMatchObject({ dueInMs: 1_500, memo: { failures: 2 } });
    await object.for(86_400_000);
    expect(await object.next()).toMatchObject({ dueInMs: 900_000 });
  });

  test("a request that the API server calls malformed is thrown on", async () => {
    await expect(patient(() => answer(422, "Invalid")).next()).rejects.toThrow("Invalid");
  });

  test("any other error is thrown on", async () => {
    await expect(patient(() => new TypeError("a bug")).next()).rejects.toThrow("a bug");
  });
});

describe("an outage is told", () => {
  test("not while it is short, so that Ready does not flap", async () => {
    const object = patient(() => answer(503, "ServiceUnavailable"));
    await object.for(15_000);
    expect(object.told).toEqual([]);
  });

  test("within 45 s, with the reason that the outage has or the one of an apply, and from then on at each try", async () => {
    const api = patient(() => answer(503, "ServiceUnavailable"));
    await api.for(45_000);
    expect(api.told[0]).toEqual({
      text: "ReconciliationFailed: the server says ServiceUnavailable",
      wasTold: false,
    });
    await api.for(600_000);
    expect(api.told.length).toBeGreaterThan(2);
    expect(api.told.slice(1).every(({ wasTold }) => wasTold)).toBe(true);

    const store = patient(() => new Outage("ArtifactFailed", "failed to download archive: no"));
    await store.for(45_000);
    expect(store.told[0]?.text).toBe("ArtifactFailed: failed to download archive: no");
  });

  test("anew after the one before is over", async () => {
    let fault: Error | undefined = answer(503, "ServiceUnavailable");
    const object = patient(() => fault);
    await object.for(60_000);
    fault = undefined;
    expect(await object.next()).toMatchObject({ outcome: "applied", memo: { failures: 0 } });
    fault = answer(503, "ServiceUnavailable");
    const before = object.told.length;
    await object.for(15_000);
    expect(object.told).toHaveLength(before);
    await object.for(45_000);
    expect(object.told[before]?.wasTold).toBe(false);
  });

  test("as soon as the cluster takes it, where the cluster itself is down", async () => {
    let isDown = true;
    const object = patient(
      () => answer(0, "Unreachable"),
      async () => {
        if (isDown) throw answer(0, "Unreachable");
      },
    );
    await object.for(60_000);
    expect(object.told.map(({ wasTold }) => wasTold)).not.toContain(true);
    isDown = false;
    await object.next();
    await object.next();
    expect(object.told.slice(-2).map(({ wasTold }) => wasTold)).toEqual([false, true]);
  });

  test("in vain where nobody knows whose the cluster is: such a run is no attempt either", async () => {
    const unknown = new Outage("ReconciliationFailed", "whose this cluster is cannot be told");
    const object = patient(
      () => unknown,
      () => Promise.reject(unknown),
    );
    await object.for(60_000);
    expect(object.told.map(({ wasTold }) => wasTold)).not.toContain(true);
    expect(await object.next()).toMatchObject({ outcome: "unreachable" });
  });

  test("only under the lease", async () => {
    const object = patient(
      () => answer(503, "ServiceUnavailable"),
      () => Promise.reject(new LeaseLost("another holds it")),
    );
    await expect(object.for(60_000)).rejects.toThrow(LeaseLost);
  });
});
