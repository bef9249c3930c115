import { expect, test } from "vitest";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { asHome } from "../../../lib/core/ports/home-and-target.ts";
import { sharedReadMs, sharedReads } from "../../../lib/notify/shared-reads.ts";
import { noCluster } from "../../doubles/no-cluster.ts";

const { signal } = new AbortController();
const ref = { group: "", version: "v1", kind: "Secret", namespace: "retail", name: "token" };

/** A cluster that counts its reads, and whose next reads fail. */
function world(failures = 0) {
  const state = { now: 0, reads: 0, failures };
  const home = asHome({
    ...noCluster,
    async get({ kind, name, namespace }): Promise<LiveObject> {
      state.reads += 1;
      if (state.failures-- > 0) throw new ApiError({ code: 0, reason: "Unreachable", message: "no answer" });
      const resourceVersion = `${state.reads}`;
      return { apiVersion: "v1", kind, metadata: { name, namespace, uid: name, resourceVersion } };
    },
  });
  const reads = sharedReads({ monotonic: () => state.now });
  return { home, reads, state };
}

test("an object is read once for a batch, another object separately, and each again for the next batch", async () => {
  const { home, reads, state } = world();
  const [first, second] = await Promise.all([reads.of(home).get(ref, signal), reads.of(home).get(ref, signal)]);
  expect([first, state.reads]).toEqual([second, 1]);
  await reads.of(home).get({ ...ref, name: "another" }, signal);
  await reads.of(home).get({ ...ref, kind: "ConfigMap" }, signal);
  expect(state.reads).toBe(3);
  await sharedReads({ monotonic: () => 0 })
    .of(home)
    .get(ref, signal);
  expect(state.reads).toBe(4);
});

test("objects of two clusters with equal names are read separately", async () => {
  const [one, other] = [world(), world()];
  await one.reads.of(one.home).get(ref, signal);
  await one.reads.of(other.home).get(ref, signal);
  expect([one.state.reads, other.state.reads]).toEqual([1, 1]);
});

test("a batch that takes long reads its objects again, so that a suspended Alert and a new Secret count", async () => {
  const { home, reads, state } = world();
  await reads.of(home).get(ref, signal);
  state.now = sharedReadMs - 1;
  await reads.of(home).get(ref, signal);
  expect(state.reads).toBe(1);
  state.now = sharedReadMs;
  await reads.of(home).get(ref, signal);
  expect(state.reads).toBe(2);
});

test("a failed read is not shared with later ones", async () => {
  const { home, reads, state } = world(1);
  await expect(reads.of(home).get(ref, signal)).rejects.toThrow("no answer");
  await expect(reads.of(home).get(ref, signal)).resolves.toMatchObject({ kind: "Secret" });
  expect(state.reads).toBe(2);
});
