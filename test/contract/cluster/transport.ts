import { describe, expect, test } from "vitest";
import type { StartCluster } from "./cluster-under-test.ts";
import { workspace } from "./workspace.ts";

export function transportContract(start: StartCluster): void {
  describe("a request", () => {
    const space = workspace(start);
    const { configMapRef } = space;

    test("whose signal is aborted is not sent", async () => {
      const reason = new Error("enough");
      await expect(space.cluster.get(configMapRef(), AbortSignal.abort(reason))).rejects.toBe(reason);
    });
  });
}
