import { describe, expect, test } from "vitest";
import { type ClusterSweepDeps, clusterSweep } from "../../../functions/sweep-cluster.ts";
import { maxNamed } from "../../../functions/tell-objects.ts";
import type { Clock } from "../../../lib/core/ports/clock.ts";
import { ApiError, type ListQuery, type PartialObject } from "../../../lib/core/ports/cluster.ts";
import { notReadyMs } from "../../../lib/core/ports/metrics.ts";
import { GateClosed } from "../../../lib/core/ports/write-gate.ts";
import type { WorkKey } from "../../../lib/core/work-key.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { configKinds, targetKinds } from "../../../lib/queue/observed-kinds.ts";
import { reconcileRequests } from "../../../lib/queue/request-reconcile.ts";
import { rules } from "../../../lib/queue/rules.ts";
import { queuedWakeUps, sqliteMessageQueue } from "../../../local/state/message-queue.ts";
import { sqliteObservedResources } from "../../../local/state/observed-resources.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { memorySweepLeases } from "../../../local/state/sweep-leases.ts";
import { sqliteWorkItems } from "../../../local/state/work-items.ts";
import { keyOf, never } from "../../contract/state-back-end.ts";
import { openGate } from "../../doubles/open-gate.ts";
import { openLimits } from "../../doubles/open-limits.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";

const kind = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };
type Listed = readonly PartialObject[];

function secret(name: string, resourceVersion: string): PartialObject {
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "apps", uid: name, resourceVersion } };
}

function kustomization(name: string, generation = 1): PartialObject {
  return {
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: { name, namespace: "apps", uid: `uid-${name}`, generation },
  };
}

/** Clusters by their ids, each with what its list answers. */
function sweepWorld(
  lists: Readonly<Record<string, (signal: AbortSignal) => Promise<Listed>>>,
  deps: Partial<ClusterSweepDeps> = {},
) {
  const database = openStateDatabase(":memory:");
  const items = sqliteWorkItems(database);
  const queue = sqliteMessageQueue(database, systemClock);
  const log = recordedLog();
  const metrics = recordedMetrics();
  const observed = sqliteObservedResources(database);
  const queueDeps = { items, wakeUps: queuedWakeUps(queue), clock: systemClock, log, rules };
  const sweep = clusterSweep({
    clusters: {
      get(id) {
        const list = lists[id];
        return list && { gate: openGate, home: { listMetadata: (_, signal) => list(signal) } };
      },
    },
    kinds: [kind],
    limits: openLimits,
    observed,
    requests: reconcileRequests(queueDeps),
    subscriptions: { subscribers: async () => [] },
    sweepLeases: memorySweepLeases(systemClock),
    metrics,
    clock: systemClock,
    log,
    ...deps,
  });
  return {
    ...{ items, observed, counted: metrics.recorded },
    /** What was logged, as text. */
    lines: () => log.lines.map((line) => JSON.stringify(line)),
    sweep: (id = "home") => sweep(id, never),
    /** The clusters and names of the objects that were woken since the last look. */
    woken: () => {
      const messages = queue.receive(10, 60_000);
      for (const { id } of messages) queue.remove(id);
      return messages.map(({ body }) => body.replace(/.*"([^/"]*)\/.*\/([^/"]*)".*/, "$1/$2")).toSorted();
    },
    [Symbol.dispose]: () => database.close(),
  };
}

/** Time for those who wait until a test lets it pass, all at once. */
function heldClock(): Clock & { pass(): void } {
  let wakers: (() => void)[] = [];
  return {
    ...systemClock,
    sleep: (_, signal) =>
      new Promise((resolve, reject) => {
        wakers.push(resolve);
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
    pass() {
      for (const wake of wakers.splice(0)) wake();
      wakers = [];
    },
  };
}

describe("the sweep of a cluster", () => {
  test("observes changes without an event: new, changed and deleted resources, each once", async () => {
    let present: Listed = [kustomization("web"), kustomization("db")];
    using world = sweepWorld({ home: async () => present });
    await world.sweep();
    expect(world.woken()).toEqual(["home/db", "home/web"]);
    await world.sweep();
    expect(world.woken()).toEqual([]);

    // A run has started on each, so a further request is not covered by the first.
    for (const name of ["web", "db"]) {
      const item = await world.items.get(keyOf(name), never);
      if (item === undefined) throw new Error("no work item");
      const started = { version: item.version + 1, started: 1, handled: 1, wakeUntil: undefined };
      await world.items.put({ ...item, ...started }, never);
    }
    present = [kustomization("web", 2)];
    await world.sweep();
    expect(world.woken()).toEqual(["home/db", "home/web"]);
    await world.sweep();
    expect(world.woken()).toEqual([]);
  });

  test("reports in each sweep objects that are Stalled or not Ready for long, but no deleted or just failed ones", async () => {
    let present: Listed = [kustomization("web"), kustomization("db"), kustomization("new"), kustomization("fine")];
    using world = sweepWorld({ home: async () => present });
    const now = systemClock.now();
    const mark = (name: string, outcome: string, agoMs: number) =>
      world.observed.markNotReady(keyOf(name), { since: now - agoMs, outcome }, never);
    await mark("web", "stalled", 0);
    await mark("db", "failed", notReadyMs + 60_000);
    await mark("new", "failed", notReadyMs - 60_000);
    await mark("gone", "stalled", 0);
    const told = (name: string, outcome: string) => [
      `Kustomization/apps/${name}`,
      { ObjectsNotReady: 1 },
      { outcome, since: expect.any(String) },
    ];
    for (let sweeps = 0; sweeps < 2; sweeps += 1) {
      await world.sweep();
      expect(world.counted.splice(0)).toEqual([told("db", "failed"), told("web", "stalled")]);
    }
    await world.observed.markReady(keyOf("web"), never);
    present = present.filter(({ metadata }) => metadata.name !== "db");
    await world.sweep();
    expect(world.counted).toEqual([]);
  });

  test(`names ${maxNamed} objects that are not Ready, and counts the rest`, async () => {
    const names = Array.from({ length: maxNamed + 5 }, (_, number) => `web-${number}`);
    using world = sweepWorld({ home: async () => names.map((name) => kustomization(name)) });
    for (const name of names) await world.observed.markNotReady(keyOf(name), { since: 0, outcome: "failed" }, never);
    await world.sweep();
    expect(world.counted).toHaveLength(maxNamed + 1);
    expect(world.counted.at(-1)).toEqual(["Cluster//", { ObjectsNotReady: 5 }]);
  });

  test("reports no object in a cluster that must not be written to", async () => {
    const refusing = { enter: () => Promise.reject(new GateClosed("paused")) };
    const clusters = { get: () => ({ gate: refusing, home: { listMetadata: async () => [kustomization("web")] } }) };
    using world = sweepWorld({}, { clusters });
    await world.observed.markNotReady(keyOf("web"), { since: 0, outcome: "stalled" }, never);
    await world.sweep();
    expect(world.counted).toEqual([]);
  });

  test("distinguishes objects of equal names in two clusters", async () => {
    const lists = { one: async () => [kustomization("web")], two: async () => [kustomization("web")] };
    using world = sweepWorld(lists);
    await world.sweep("one");
    expect(world.woken()).toEqual(["one/web"]);
    await world.sweep("two");
    expect(world.woken()).toEqual(["two/web"]);
  });

  test("observes nothing while the gate is closed, and catches up when it opens", async () => {
    let isOpen = false;
    const enter = async (): Promise<void> => {
      if (!isOpen) throw new GateClosed("this cluster belongs to another Sluice");
    };
    const home = { listMetadata: async () => [kustomization("web")] };
    using world = sweepWorld({}, { clusters: { get: () => ({ gate: { enter }, home }) } });
    await world.sweep();
    expect(world.woken()).toEqual([]);
    isOpen = true;
    await world.sweep();
    expect(world.woken()).toEqual(["home/web"]);
  });

  test("that still runs is not started twice, and its end allows the next one to start", async () => {
    const answer = Promise.withResolvers<Listed>();
    let lists = 0;
    const list = (): Promise<Listed> => ((lists += 1), answer.promise);
    using world = sweepWorld({ home: list }, { sweepLeases: memorySweepLeases(systemClock) });
    const first = world.sweep();
    await expect.poll(() => lists).toBe(1);
    await world.sweep();
    expect(lists).toBe(1);
    answer.resolve([kustomization("web")]);
    await first;
    expect(world.woken()).toEqual(["home/web"]);
    await world.sweep();
    expect(lists).toBe(2);
  });

  test("finds changed ConfigMaps and Secrets with the watch label, and requests runs of their subscribers (124)", async () => {
    const asked: string[] = [];
    const queries: ListQuery[] = [];
    let present: Listed = [];
    const home = {
      async listMetadata(query: ListQuery) {
        queries.push(query);
        return query.kind === "Secret" ? present : [];
      },
    };
    const subscribers = async (topic: string) => (topic === "cfg#home/Secret/apps/vars" ? [keyOf("web")] : []);
    const requests = { request: async ({ name }: WorkKey) => void asked.push(name) };
    const kinds = configKinds("watched=Enabled", { subscriptions: { subscribers }, requests });
    using world = sweepWorld({}, { clusters: { get: () => ({ gate: openGate, home }) }, kinds });
    await world.sweep();
    expect(asked).toEqual([]);
    expect(queries).toMatchObject([
      { kind: "ConfigMap", labelSelector: "watched=Enabled" },
      { kind: "Secret", labelSelector: "watched=Enabled" },
    ]);
    for (const resourceVersion of ["1", "1", "2"]) {
      present = [secret("vars", resourceVersion), secret("other", resourceVersion)];
      await world.sweep();
    }
    expect(asked).toEqual(["web", "web"]);
    present = [];
    await world.sweep();
    expect(asked).toEqual(["web", "web", "web"]);
  });

  describe("of a cluster with Canaries", () => {
    const canaryKind = { group: "flagger.app", version: "v1beta1", kind: "Canary" };
    const one = (kindName: string, namespace: string, generation = 1): PartialObject => ({
      apiVersion: "v1",
      kind: kindName,
      metadata: { name: "web", namespace, uid: `${kindName}-${namespace}`, generation },
    });

    /** A sweep of a cluster with Canaries in these namespaces, and Deployments of these generations in all. */
    function canaryWorld() {
      const queries: string[] = [];
      const asked: string[] = [];
      const state = { namespaces: [] as readonly string[], generations: {} as Readonly<Record<string, number>> };
      const home = {
        async listMetadata({ kind: kindName, namespace }: ListQuery) {
          queries.push(`${kindName} ${namespace ?? "*"}`);
          if (kindName === "Canary") return state.namespaces.map((ns) => one("Canary", ns));
          if (kindName !== "Deployment") return [];
          const all = Object.entries(state.generations).map(([ns, generation]) => one("Deployment", ns, generation));
          return all.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
        },
      };
      const subscribers = async (topic: string): Promise<WorkKey[]> => {
        const namespace = /^obj#home\/apps\/Deployment\/(.+)\/web$/.exec(topic)?.[1];
        return namespace === undefined ? [] : [{ cluster: "home", ...canaryKind, namespace, name: "web" }];
      };
      const requests = { request: async ({ namespace }: WorkKey) => void asked.push(namespace) };
      const kinds = [canaryKind, ...targetKinds([canaryKind], { subscriptions: { subscribers }, requests })];
      const world = sweepWorld({}, { clusters: { get: () => ({ gate: openGate, home }) }, kinds });
      return {
        state,
        async sweep() {
          queries.length = 0;
          asked.length = 0;
          await world.sweep();
          return { queries: [...queries], asked: [...asked] };
        },
        [Symbol.dispose]: () => world[Symbol.dispose](),
      };
    }

    test("lists nothing more while there are none", async () => {
      using world = canaryWorld();
      world.state.generations = { apps: 1 };
      expect(await world.sweep()).toEqual({ queries: ["Canary *"], asked: [] });
    });

    test("keeps its records of targets while there are none", async () => {
      using world = canaryWorld();
      world.state.generations = { apps: 1 };
      world.state.namespaces = ["apps"];
      expect((await world.sweep()).asked).toContain("apps");
      world.state.namespaces = [];
      await world.sweep();
      world.state.namespaces = ["apps"];
      expect((await world.sweep()).asked).toEqual([]);
    });

    test("canary/18: finds a changed target in their namespaces, and lists no other", async () => {
      using world = canaryWorld();
      world.state.namespaces = ["apps"];
      world.state.generations = { apps: 1, other: 1 };
      const { queries } = await world.sweep();
      const kinds = ["Deployment", "DaemonSet", "Service", "ConfigMap", "Secret"];
      expect(queries).toEqual(["Canary *", ...kinds.map((name) => `${name} apps`)]);
      expect((await world.sweep()).asked).toEqual([]);
      world.state.generations = { apps: 2, other: 2 };
      expect((await world.sweep()).asked).toEqual(["apps"]);
    });

    test("lists the objects of all namespaces at once if many have Canaries", async () => {
      using world = canaryWorld();
      world.state.namespaces = ["a", "b", "c", "d", "e"];
      world.state.generations = { a: 1, e: 1, other: 1 };
      const { queries, asked } = await world.sweep();
      expect(queries).toContain("Deployment *");
      expect(queries).toHaveLength(6);
      expect(asked).toEqual(["a", "e"]);
    });
  });

  test.each([
    { code: 403, reason: "Forbidden" },
    { code: 404, reason: "NoMatch" },
  ])(
    "that cannot list watched objects ($reason) still checks its own kinds, and reports what it skipped",
    async (refusal) => {
      const requests = { request: async () => undefined };
      const configs = configKinds("watched=Enabled", { subscriptions: { subscribers: async () => [] }, requests });
      const home = {
        async listMetadata(query: ListQuery) {
          if (query.group !== "") return [kustomization("web")];
          throw new ApiError({ ...refusal, message: `may not list ${query.kind}` });
        },
      };
      using world = sweepWorld({}, { clusters: { get: () => ({ gate: openGate, home }) }, kinds: [...configs, kind] });
      await world.sweep();
      expect(world.woken()).toEqual(["home/web"]);
      expect(world.lines()).toEqual(
        expect.arrayContaining([
          expect.stringContaining("may not list ConfigMap"),
          expect.stringContaining("may not list Secret"),
        ]),
      );
    },
  );

  test("renews its lease, and stops once another process has it", async () => {
    const clock = heldClock();
    const answers = [true, true, false];
    const taken: number[] = [];
    const sweepLeases = {
      take: async (_: string, __: string, forMs: number) => (taken.push(forMs), answers.shift() ?? false),
    };
    const observed = { get: async () => undefined, put: async () => undefined, remove: async () => undefined };
    // Reads of its own state may take long; only answers of the cluster are limited.
    const list = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const stores = { ...observed, list: async (_: unknown, signal: AbortSignal) => list(signal) };
    using world = sweepWorld({ home: async () => [] }, { clock, sweepLeases, observed: stores });
    const sweeping = world.sweep();
    await expect.poll(() => (clock.pass(), taken.length)).toBeGreaterThanOrEqual(3);
    await sweeping;
    expect(taken).toEqual([30_000, 30_000, 30_000, 0]);
    expect(world.lines()).toEqual([expect.stringContaining("another process sweeps the cluster")]);
  });

  test("skips a cluster that never answers, or refuses, until the next minute, and delays no other", async () => {
    const clock = heldClock();
    const refused = new ApiError({ code: 403, reason: "Forbidden", message: "hunting season" });
    const lists = {
      hangs: () => new Promise<never>(() => undefined),
      refuses: () => Promise.reject(refused),
      works: async () => [kustomization("web")],
    };
    using world = sweepWorld(lists, { clock });
    const hanging = world.sweep("hangs");
    await world.sweep("refuses");
    await world.sweep("works");
    expect(world.woken()).toEqual(["works/web"]);
    const warnings = () => world.lines().filter((line) => line.includes("not finished"));
    await expect.poll(() => (clock.pass(), warnings().length)).toBe(2);
    await hanging;
    expect(warnings()).toEqual([
      expect.stringContaining("hunting season"),
      expect.stringContaining("the cluster gave no answer within 20 s"),
    ]);
  });

  test("probes the cluster: it reports whether the cluster hangs, its gate is closed, or it answers", async () => {
    const clock = heldClock();
    const said: unknown[] = [];
    const probe: ClusterSweepDeps["limits"]["probe"] = async (cluster, sweepCluster, signal) => {
      said.push([cluster, await sweepCluster(signal).catch((error: unknown) => error)]);
    };
    const lists = { hangs: () => new Promise<never>(() => undefined), works: async () => [] };
    using world = sweepWorld(lists, { clock, limits: { probe } });
    const hanging = world.sweep("hangs");
    await world.sweep("works");
    await expect.poll(() => (clock.pass(), said.length)).toBe(2);
    await hanging;
    expect(said).toEqual([
      ["works", undefined],
      ["hangs", expect.objectContaining({ reason: "Unreachable", code: 0 })],
    ]);
    const enter = () => Promise.reject(new GateClosed("paused by me", "paused"));
    const clusters = { get: () => ({ gate: { enter }, home: { listMetadata: () => Promise.reject(new Error()) } }) };
    using closed = sweepWorld({}, { clusters, limits: { probe } });
    await closed.sweep("paused");
    expect(said.at(-1)).toEqual(["paused", "paused"]);
  });

  test("ignores a cluster that is not served here", async () => {
    using world = sweepWorld({});
    await world.sweep("arn:aws:eks:eu-west-1:123456789012:cluster/other");
    expect(world.lines()).toEqual([expect.stringContaining("not looked after here")]);
  });
});
