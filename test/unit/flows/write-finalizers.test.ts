import { expect, test } from "vitest";
import type { Json } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { ApiError, type ApiReason } from "../../../lib/core/ports/cluster.ts";
import type { HomeCluster } from "../../../lib/core/ports/home-and-target.ts";
import { writeFinalizers } from "../../../lib/flows/write-finalizers.ts";
import { noHome } from "../../doubles/no-cluster.ts";

const { signal } = new AbortController();
const at = (version: number, finalizers: string[]): LiveObject => ({
  apiVersion: "v1",
  kind: "Receiver",
  metadata: { name: "a", namespace: "n", uid: "u", resourceVersion: String(version), finalizers },
});
const refusal = (reason: ApiReason) => new ApiError({ code: 409, reason, message: reason });

/** An API server that refuses the first writes; before each next one another controller has written the list. */
function world(refusals: readonly ApiReason[], lists: readonly string[][] = []) {
  const written: Json[] = [];
  let reads = 0;
  const home: HomeCluster = {
    ...noHome,
    async patch(_ref, { body }) {
      written.push(body as Json);
      const reason = refusals[written.length - 1];
      if (reason !== undefined) throw refusal(reason);
      return at(9, []);
    },
    get: async () => at(++reads + 1, lists[reads - 1] ?? []),
  };
  const add = () => writeFinalizers(at(1, ["x"]), (list) => [...list, "own"], { home, manager: "m" }, signal);
  return { add, written };
}
const body = (version: number, ...finalizers: readonly string[]) => ({
  metadata: { resourceVersion: String(version), finalizers },
});

test("after a conflict, the list of finalizers is read again, and entries of other controllers are kept", async () => {
  const { add, written } = world(["Conflict", "Conflict"], [["x", "theirs"], ["theirs"]]);
  await add();
  expect(written).toEqual([body(1, "x", "own"), body(2, "x", "theirs", "own"), body(3, "theirs", "own")]);
});

test("a third conflict and any other refusal fail the run; a missing object does not", async () => {
  await expect(world(["Conflict", "Conflict", "Conflict"]).add()).rejects.toThrow("Conflict");
  await expect(world(["Forbidden"]).add()).rejects.toThrow("Forbidden");
  await expect(world(["NotFound"]).add()).resolves.toBeUndefined();
});
