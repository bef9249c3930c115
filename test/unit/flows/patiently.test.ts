import { describe, expect, test } from "vitest";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import type { Run } from "../../../lib/core/run.ts";
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
const failing = (code: number, reason: string) =>
  patiently(async () => {
    throw new ApiError({ code, reason, message: "no" });
  }, silentLog);

describe("a cluster that does not answer", () => {
  test.each([
    [0, "Unreachable"],
    [403, "Forbidden"],
    [429, "TooManyRequests"],
    [503, "ServiceUnavailable"],
  ])("%d %s is waited out with back-off, the flow's own memo kept", async (code, reason) => {
    const flow = failing(code, reason);
    const first = await flow(run({ failures: 2 }));
    expect(first).toEqual({ outcome: "unreachable", dueInMs: 750, memo: { failures: 2, outages: 1 } });
    expect(await flow(run(first.memo))).toMatchObject({ dueInMs: 1_500, memo: { outages: 2 } });
    expect(await flow(run({ outages: 60 }))).toMatchObject({ dueInMs: 900_000 });
  });

  test("a request that the API server calls malformed is thrown on", async () => {
    await expect(failing(422, "Invalid")(run(undefined))).rejects.toThrow("no");
  });

  test("any other error is thrown on", async () => {
    const flow = patiently(() => Promise.reject(new TypeError("a bug")), silentLog);
    await expect(flow(run(undefined))).rejects.toThrow("a bug");
  });
});
