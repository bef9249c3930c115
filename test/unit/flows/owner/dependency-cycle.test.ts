import { describe, expect, test } from "vitest";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
import type { WorkKey } from "../../../../lib/core/work-key.ts";
import { cycleText } from "../../../../lib/flows/owner/dependency-cycle.ts";

const key = (name: string): WorkKey => ({ cluster: "c", group: "g", kind: "HelmRelease", namespace: "apps", name });

function search(fail: () => Error, signal = new AbortController().signal): Promise<string> {
  const waiting = { dependencies: [key("base")], problem: "base is not ready", conditions: [], waits: 1 };
  const read = () => Promise.reject(fail());
  return cycleText(waiting, {
    run: { key: key("app"), isRequested: true, signal },
    requests: { request: async () => {} },
    read,
  });
}

describe("the search for a circle of dependencies", () => {
  test("ends without a circle if the API server refuses a read: the run goes on", async () => {
    expect(await search(() => new ApiError({ code: 403, reason: "Forbidden", message: "no" }))).toBe("");
  });

  test("does not hide the end of the run's time, or a bug", async () => {
    const ending = new AbortController();
    const aborted = search(() => {
      ending.abort(new Error("time is up"));
      return new ApiError({ code: 0, reason: "Unreachable", message: "aborted" });
    }, ending.signal);
    await expect(aborted).rejects.toThrow("time is up");
    await expect(search(() => new TypeError("a bug"))).rejects.toThrow("a bug");
  });
});
