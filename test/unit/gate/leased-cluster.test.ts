import { expect, test } from "vitest";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { LeaseLost } from "../../../lib/core/ports/fence.ts";
import { asHome } from "../../../lib/core/ports/home-and-target.ts";
import { leasedCluster } from "../../../lib/gate/leased-cluster.ts";
import { noCluster, noHome, noTarget } from "../../doubles/no-cluster.ts";

const { signal } = new AbortController();
const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "n", name: "a" };
const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "n" } };
const live = { ...manifest, metadata: { ...manifest.metadata, uid: "u" } };
const options = { manager: "test", force: true };

const writes: readonly [verb: string, write: (cluster: Cluster, dryRun: boolean) => Promise<unknown>][] = [
  ["apply", (cluster, dryRun) => cluster.apply(manifest, { ...options, dryRun }, signal)],
  ["create", (cluster, dryRun) => cluster.create(manifest, { ...options, dryRun }, signal)],
  ["patch", (cluster, dryRun) => cluster.patch(ref, { type: "merge", body: {} }, { ...options, dryRun }, signal)],
];
const deletes = (cluster: Cluster): Promise<unknown> => cluster.delete(ref, { propagation: "Background" }, signal);

function world() {
  let isHeld = true;
  const calls: ({ readonly beforeSend?: () => void } | undefined)[] = [];
  const cluster: Cluster = {
    ...noCluster,
    apply: async (_manifest, given) => (calls.push(given), { object: live, created: false, warnings: [] }),
    create: async (_manifest, given) => (calls.push(given), live),
    patch: async (_ref, _patch, given) => (calls.push(given), live),
    delete: async (_ref, given) => (calls.push(given), "deleted"),
  };
  const run = {
    assertLease() {
      if (!isHeld) throw new LeaseLost("lost");
    },
  };
  return {
    leased: leasedCluster(asHome(cluster), run),
    calls,
    lose: () => {
      isHeld = false;
    },
  };
}

test.each([
  ...writes.map(([verb, write]) => [verb, (cluster: Cluster) => write(cluster, false)] as const),
  ["delete", deletes] as const,
])("%s checks the lease at the call, and lets the adapter check again before it sends", async (_verb, write) => {
  const { leased, calls, lose } = world();
  await write(leased);
  expect(calls).toHaveLength(1);
  expect(calls[0]?.beforeSend).not.toThrow();
  lose();
  expect(calls[0]?.beforeSend).toThrow(LeaseLost);
  await expect(write(leased)).rejects.toThrow(LeaseLost);
  expect(calls).toHaveLength(1);
});

test.each(writes)("a dry run of %s writes nothing and needs no lease", async (_verb, write) => {
  const { leased, calls, lose } = world();
  lose();
  await write(leased, true);
  expect(calls.map((given) => given?.beforeSend)).toEqual([undefined]);
});

test("a leased cluster keeps the role home or target", () => {
  const run = { assertLease: () => undefined };
  expect([leasedCluster(noHome, run).role, leasedCluster(noTarget, run).role]).toEqual(["home", "target"]);
});
