import { describe, expect, test } from "vitest";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { LeaseLost } from "../../../lib/core/ports/fence.ts";
import { asHome } from "../../../lib/core/ports/home-and-target.ts";
import { GateClosed, type WriteGate } from "../../../lib/core/ports/write-gate.ts";
import { gatedCluster } from "../../../lib/gate/gated-cluster.ts";
import { clusterAccess } from "../../../lib/gate/guarded-cluster.ts";
import { leasedCluster } from "../../../lib/gate/leased-cluster.ts";

const { signal } = new AbortController();
const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "n", name: "a" };
const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "n" } };
const live = { ...manifest, metadata: { ...manifest.metadata, uid: "u" } };

type Method = keyof typeof clusterAccess;
type More = { readonly dryRun?: boolean; readonly beforeSend?: () => void };

/** A call of each method of the port. */
const calls: Readonly<Record<Method, (cluster: Cluster, more?: More) => Promise<unknown>>> = {
  uid: (cluster) => cluster.uid(signal),
  endpoint: async (cluster) => cluster.endpoint?.(signal),
  resource: (cluster) => cluster.resource(ref, signal),
  served: (cluster) => cluster.served(signal),
  version: async (cluster) => cluster.version?.(signal),
  get: (cluster) => cluster.get(ref, signal),
  list: (cluster) => cluster.list(ref, signal),
  listMetadata: (cluster) => cluster.listMetadata(ref, signal),
  watch: (cluster) => cluster.watch(ref, signal)[Symbol.asyncIterator]().next(),
  apply: (cluster, more) => cluster.apply(manifest, { manager: "test", force: true, ...more }, signal),
  create: (cluster, more) => cluster.create(manifest, { manager: "test", ...more }, signal),
  patch: (cluster, more) => cluster.patch(ref, { type: "merge", body: {} }, { manager: "test", ...more }, signal),
  delete: (cluster, more) => cluster.delete(ref, { propagation: "Background", ...more }, signal),
};

/** A cluster that notes what reaches it, with rights of another user beside the port. */
function notingCluster() {
  const reached: Method[] = [];
  const written: (() => void)[] = [];
  const note = (method: Method): void => void reached.push(method);
  const write = (method: Method, { beforeSend = () => undefined }: More): void => {
    beforeSend();
    note(method);
    written.push(beforeSend);
  };
  const cluster: Cluster & { as(user: string): Cluster } = {
    uid: async () => (note("uid"), "u"),
    endpoint: async () => (note("endpoint"), undefined),
    version: async () => (note("version"), "v1"),
    resource: async () => (note("resource"), undefined),
    served: async () => (note("served"), { resources: [], silentGroups: [] }),
    get: async () => (note("get"), undefined),
    list: async () => (note("list"), []),
    listMetadata: async () => (note("listMetadata"), []),
    async *watch() {
      note("watch");
      yield { type: "ADDED", object: live };
    },
    apply: async (_manifest, options) => (write("apply", options), { object: live, created: false, warnings: [] }),
    create: async (_manifest, options) => (write("create", options), live),
    patch: async (_ref, _patch, options) => (write("patch", options), live),
    delete: async (_ref, options) => (write("delete", options), "deleted"),
    as: () => cluster,
  };
  return { cluster, reached, written };
}

/** Each guard, open until it is closed, and what it refuses with. */
const guards = [
  {
    guard: "the gate",
    refusal: GateClosed,
    around: (cluster: Cluster, isClosed: () => boolean): Cluster => {
      const assertOpen = (): void => {
        if (isClosed()) throw new GateClosed("closed");
      };
      const gate: WriteGate = { assertOpen, enter: async () => assertOpen() };
      return gatedCluster(cluster, gate);
    },
  },
  {
    guard: "the lease",
    refusal: LeaseLost,
    around: (cluster: Cluster, isClosed: () => boolean): Cluster => {
      const assertLease = (): void => {
        if (isClosed()) throw new LeaseLost("lost");
      };
      return leasedCluster(asHome(cluster), { assertLease });
    },
  },
];

function isMethod(name: string): name is Method {
  return name in clusterAccess;
}

function methodsWith(access: "read" | "write"): readonly Method[] {
  return Object.keys(calls)
    .filter(isMethod)
    .filter((name) => clusterAccess[name] === access);
}

test("the table knows four writes, and every method of the port", () => {
  expect(methodsWith("write")).toEqual(["apply", "create", "patch", "delete"]);
  expect(Object.keys(clusterAccess).toSorted()).toEqual(Object.keys(calls).toSorted());
});

describe.each(guards)("$guard", ({ around, refusal }) => {
  test.each(methodsWith("read"))("allows %s when it is closed", async (method) => {
    const { cluster, reached } = notingCluster();
    await calls[method](around(cluster, () => true));
    expect(reached).toEqual([method]);
  });

  test.each(methodsWith("write"))("refuses %s when it is closed", async (method) => {
    const { cluster, reached } = notingCluster();
    await expect(calls[method](around(cluster, () => true))).rejects.toThrow(refusal);
    expect(reached).toEqual([]);
  });

  test.each(methodsWith("write"))("refuses %s when it closes before the request is sent", async (method) => {
    const { cluster, written } = notingCluster();
    let isClosed = false;
    await calls[method](around(cluster, () => isClosed));
    expect(written).toHaveLength(1);
    isClosed = true;
    expect(written[0]).toThrow(refusal);
  });

  test.each(methodsWith("write"))("also lets %s make its earlier check", async (method) => {
    const { cluster, reached } = notingCluster();
    const beforeSend = (): void => {
      throw new Error("given before");
    };
    await expect(
      calls[method](
        around(cluster, () => false),
        { beforeSend },
      ),
    ).rejects.toThrow("given before");
    expect(reached).toEqual([]);
  });

  test("has only the methods of the port", () => {
    const { cluster } = notingCluster();
    const methods = Object.entries(around(cluster, () => false)).filter(([, value]) => typeof value === "function");
    expect(methods.map(([name]) => name).toSorted()).toEqual(Object.keys(clusterAccess).toSorted());
  });
});

test("a method with beforeSend cannot be declared a read", () => {
  // @ts-expect-error A write that the table calls a read does not compile.
  const access: typeof clusterAccess = { ...clusterAccess, patch: "read" };
  expect(access.patch).toBe("read");
});
