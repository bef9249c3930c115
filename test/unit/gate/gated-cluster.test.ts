import { describe, expect, test } from "vitest";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { LeaseLost } from "../../../lib/core/ports/fence.ts";
import { GateClosed, LookTooOld } from "../../../lib/core/ports/write-gate.ts";
import { gatedCluster } from "../../../lib/gate/gated-cluster.ts";
import { type GateCheck, lookCountsMs, writeGate } from "../../../lib/gate/write-gate.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";

const { signal } = new AbortController();
const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "n", name: "a" };
const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "n" } };
const live = { ...manifest, metadata: { ...manifest.metadata, uid: "u" } };
const options = { manager: "test", force: true };

type Guard = { readonly beforeSend?: () => void };
type Write = (cluster: Cluster, more?: Guard & { readonly dryRun?: boolean }) => Promise<unknown>;

const writes: Readonly<Record<string, Write>> = {
  apply: (cluster, more) => cluster.apply(manifest, { ...options, ...more }, signal),
  create: (cluster, more) => cluster.create(manifest, { ...options, ...more }, signal),
  patch: (cluster, more) => cluster.patch(ref, { type: "merge", body: {} }, { ...options, ...more }, signal),
  delete: (cluster, more) => cluster.delete(ref, { propagation: "Background", ...more }, signal),
};

/** A cluster to which a request takes `onItsWay` before it is sent, behind a gate that the test closes. */
function world() {
  const clock = steppedClock();
  const self = { reason: undefined as string | undefined, looks: 0, onItsWay: () => {}, sent: [] as number[] };
  const check: GateCheck = async () => {
    self.looks += 1;
    return self.reason === undefined ? undefined : { reason: "owner", message: self.reason };
  };
  const gate = writeGate([check], { clock, log: silentLog });
  const send = (given: Guard): void => {
    self.onItsWay();
    given.beforeSend?.();
    self.sent.push(clock.now());
  };
  const connected: Cluster = {
    ...noCluster,
    get: async () => live,
    apply: async (_manifest, given) => (send(given), { object: live, created: false, warnings: [] }),
    create: async (_manifest, given) => (send(given), live),
    patch: async (_ref, _patch, given) => (send(given), live),
    delete: async (_ref, given) => (send(given), "deleted"),
  };
  return { self, clock, cluster: gatedCluster(connected, gate) };
}

describe.each(Object.entries(writes))("%s", (_verb, write) => {
  test("passes an open gate, with one look for many", async () => {
    const { self, cluster } = world();
    await Promise.all([write(cluster), write(cluster), write(cluster)]);
    expect([self.sent.length, self.looks]).toEqual([3, 1]);
  });

  test("is not sent through a closed gate", async () => {
    const { self, cluster } = world();
    self.reason = "it is another's";
    await expect(write(cluster)).rejects.toThrow(GateClosed);
    expect(self.sent).toEqual([]);
  });

  test("is sent at most five seconds after the gate was closed, however long it was on its way", async () => {
    const { self, clock, cluster } = world();
    await write(cluster);
    const closedAt = clock.now();
    self.reason = "it is another's";
    clock.pass(lookCountsMs - 1);
    await write(cluster);
    self.onItsWay = () => clock.pass(10_000);
    await expect(write(cluster)).rejects.toThrow(GateClosed);
    expect(self.sent.map((at) => at - closedAt)).toEqual([0, lookCountsMs - 1]);
  });

  test("that took so long that the look is too old is sent after another look", async () => {
    const { self, clock, cluster } = world();
    let slow = 1;
    self.onItsWay = () => {
      if (slow-- > 0) clock.pass(10_000);
    };
    await write(cluster);
    expect([self.sent.length, self.looks]).toEqual([1, 2]);
    self.onItsWay = () => clock.pass(10_000);
    await expect(write(cluster)).rejects.toThrow(LookTooOld);
    expect([self.sent.length, self.looks]).toEqual([1, 4]);
  });

  test("also makes its earlier check: the lease of its run", async () => {
    const { self, cluster } = world();
    const beforeSend = (): void => {
      throw new LeaseLost("lost");
    };
    await expect(write(cluster, { beforeSend })).rejects.toThrow(LeaseLost);
    expect(self.sent).toEqual([]);
  });
});

test("reads and dry runs check no gate", async () => {
  const { self, cluster } = world();
  self.reason = "it is another's";
  await cluster.get(ref, signal);
  for (const verb of ["apply", "create", "patch"]) await writes[verb]?.(cluster, { dryRun: true });
  expect([self.sent.length, self.looks]).toEqual([3, 0]);
});
