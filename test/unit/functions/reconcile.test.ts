import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { reconcileHandler } from "../../../functions/reconcile.ts";
import { Outage } from "../../../lib/core/ports/outage.ts";
import type { Flow } from "../../../lib/core/ports/run.ts";
import { GateClosed, type WriteGate } from "../../../lib/core/ports/write-gate.ts";
import { formatWorkKey, type WorkKey } from "../../../lib/core/work-key.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { requestReconcile } from "../../../lib/queue/request-reconcile.ts";
import { rules } from "../../../lib/queue/rules.ts";
import { runPlaces } from "../../../lib/queue/run-places.ts";
import { sqsEvent } from "../../../local/aws-events.ts";
import { queuedWakeUps, sqliteDeadLetters, sqliteMessageQueue } from "../../../local/state/message-queue.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { sqliteWorkItems } from "../../../local/state/work-items.ts";
import { keyOf, never, workItem } from "../../contract/state-back-end.ts";
import { openGate } from "../../doubles/open-gate.ts";
import { openLimits } from "../../doubles/open-limits.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";
import { silentLog } from "../../doubles/silent-log.ts";

function reconcileWorld(flow: Flow, gate: Pick<WriteGate, "enter"> = openGate) {
  const database = openStateDatabase(":memory:");
  const queue = sqliteMessageQueue(database, systemClock);
  const items = sqliteWorkItems(database);
  const queueDeps = { items, wakeUps: queuedWakeUps(queue), clock: systemClock, log: silentLog, rules };
  const metrics = recordedMetrics();
  const swept: string[] = [];
  const handler = reconcileHandler({
    ...queueDeps,
    deadLetters: sqliteDeadLetters(database, systemClock),
    runPlaces: runPlaces(systemClock),
    newHolder: () => "holder",
    inputOf: async () => "input",
    onParked: async () => undefined,
    extendVisibility: async () => undefined,
    sweepCluster: async (cluster) => void swept.push(cluster),
    lookAtObject: async ({ key }) => void swept.push(`look at ${key}`),
    clusters: { get: (id) => (id === "home" ? { gate } : undefined) },
    limits: openLimits,
    metrics,
    flowOf: ({ kind }) => (kind === "Kustomization" ? flow : undefined),
  });
  return {
    items,
    queue,
    handler,
    measured: metrics.recorded,
    swept,
    request: (key: WorkKey) => requestReconcile(key, "test", queueDeps, never),
    [Symbol.dispose]: () => database.close(),
  };
}

describe("reconcile", () => {
  test("runs the flow of each object in a batch, under its lease", async () => {
    const seen: string[] = [];
    using world = reconcileWorld(async (run) => {
      run.assertLease();
      seen.push(`${run.key.name} ${run.fence.token}`);
      return { outcome: "applied", dueInMs: undefined };
    });
    await world.request(keyOf("web"));
    await world.request(keyOf("db"));
    expect(await world.handler(sqsEvent(world.queue.receive(10, 60_000)), never)).toEqual({ batchItemFailures: [] });
    expect(seen.toSorted()).toEqual(["db 1", "web 1"]);
    const item = await world.items.get(keyOf("web"), never);
    expect([item?.handled, item?.lease]).toEqual([1, undefined]);
  });

  test("retries only messages that cannot be parsed", async () => {
    using world = reconcileWorld(async () => ({ outcome: "applied", dueInMs: undefined }));
    const bodies = [
      "no json",
      "{}",
      JSON.stringify({ key: "too/short" }),
      JSON.stringify({ key: formatWorkKey(keyOf("web")) }),
    ];
    const event = sqsEvent(bodies.map((body, index) => ({ id: String(index), body, receives: 1 })));
    expect(await world.handler(event, never)).toEqual({
      batchItemFailures: [{ itemIdentifier: "0" }, { itemIdentifier: "1" }, { itemIdentifier: "2" }],
    });
  });

  test("sweeps the cluster of a sweep message, and refuses a message that is both", async () => {
    using world = reconcileWorld(async () => {
      throw new Error("must not run");
    });
    const sweep = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
    const bodies = [{ sweep }, { sweep, key: formatWorkKey(keyOf("web")) }, { sweep: "a/b" }, { sweep: "home" }];
    const event = sqsEvent(
      bodies.map((body, index) => ({ id: String(index), body: JSON.stringify(body), receives: 1 })),
    );
    expect(await world.handler(event, never)).toEqual({
      batchItemFailures: [{ itemIdentifier: "1" }, { itemIdentifier: "2" }],
    });
    expect(world.swept).toEqual([sweep, "home"]);
  });

  test("looks at the object of a change message, and retries one that got no place", async () => {
    using world = reconcileWorld(async () => {
      throw new Error("must not run");
    });
    const key = formatWorkKey(keyOf("web"));
    const bodies = [{ look: { key, tries: 0 } }, { look: { key, tries: 3 } }, { look: { key, tries: 0, data: "x" } }];
    const event = sqsEvent(
      bodies.map((body, index) => ({ id: String(index), body: JSON.stringify(body), receives: 1 })),
    );
    expect(await world.handler(event, never)).toEqual({
      batchItemFailures: [{ itemIdentifier: "1" }, { itemIdentifier: "2" }],
    });
    expect(world.swept).toEqual([`look at ${key}`]);
  });

  test("does not accept a lease that a message guesses, by the fence's number or by a name", async () => {
    using world = reconcileWorld(async () => {
      throw new Error("must not run");
    });
    const key = keyOf("web");
    const lease = { holder: randomUUID(), renewals: 2 };
    await world.items.put(workItem(key, { requested: 2, started: 1, token: 3, lease }), never);
    const guesses = [
      { token: 3, renewals: 2 },
      { token: 3, holder: "", renewals: 2 },
      ...["", "3", "holder", randomUUID()].map((holder) => ({ holder, renewals: 2 })),
    ];
    const bodies = guesses.map((held) => JSON.stringify({ key: formatWorkKey(key), held }));
    const event = sqsEvent(bodies.map((body, index) => ({ id: String(index), body, receives: 1 })));
    expect(await world.handler(event, never)).toEqual({ batchItemFailures: [] });
    expect((await world.items.get(key, never))?.lease).toEqual(lease);
  });

  test("acknowledges a wake-up for a kind that Sluice does not reconcile", async () => {
    using world = reconcileWorld(async () => {
      throw new Error("must not run");
    });
    const key = { ...keyOf("web"), kind: "HelmRelease" };
    await world.request(key);
    expect(await world.handler(sqsEvent(world.queue.receive(10, 60_000)), never)).toEqual({ batchItemFailures: [] });
    expect((await world.items.get(key, never))?.started).toBe(0);
  });

  test("acknowledges a wake-up for a cluster that is not served, even if another has objects of the same names", async () => {
    using world = reconcileWorld(async () => {
      throw new Error("must not run");
    });
    const key = { ...keyOf("web"), cluster: "arn:aws:eks:eu-west-1:123456789012:cluster/home" };
    await world.request(key);
    expect(await world.handler(sqsEvent(world.queue.receive(10, 60_000)), never)).toEqual({ batchItemFailures: [] });
    expect((await world.items.get(key, never))?.started).toBe(0);
  });

  test("starts no run while the gate is closed: requests stay, no attempt is counted, and the refusal is counted", async () => {
    let isOpen = false;
    const enter = async (): Promise<void> => {
      if (!isOpen) throw new GateClosed("this cluster belongs to another Sluice");
    };
    let runs = 0;
    using world = reconcileWorld(async () => ((runs += 1), { outcome: "applied", dueInMs: undefined }), { enter });
    const key = keyOf("web");
    await world.request(key);
    const event = sqsEvent(world.queue.receive(10, 60_000));
    for (let time = 0; time < 20; time++) {
      expect(await world.handler(event, never)).toEqual({ batchItemFailures: [] });
    }
    expect(runs).toBe(0);
    expect(await world.items.get(key, never)).toMatchObject({ requested: 1, started: 0, token: 0, attempts: 0 });
    // Neither hidden by the wake-up that was not followed: the next request sends another.
    await world.request(key);
    const again = world.queue.receive(10, 60_000);
    expect(again).toHaveLength(1);
    expect(world.measured).toEqual(
      Array(20).fill(["Kustomization/apps/web", { ReconcilesRefused: 1 }, { refused: "owner" }]),
    );
    isOpen = true;
    expect(await world.handler(sqsEvent(again), never)).toEqual({ batchItemFailures: [] });
    expect(runs).toBe(1);
    expect(await world.items.get(key, never)).toMatchObject({ handled: 1, attempts: 0, lease: undefined });
  });

  test("starts a run even if the gate cannot be read, and the run reports the outage", async () => {
    const enter = async (): Promise<void> => {
      throw new Outage("ReconciliationFailed", "no answer");
    };
    let runs = 0;
    using world = reconcileWorld(async () => ((runs += 1), { outcome: "unreachable", dueInMs: 750 }), { enter });
    await world.request(keyOf("web"));
    await world.handler(sqsEvent(world.queue.receive(10, 60_000)), never);
    expect(runs).toBe(1);
  });

  test("names exactly the messages that were not handled when its time is up", async () => {
    const invocation = new AbortController();
    using world = reconcileWorld(async () => {
      invocation.abort(new Error("time is up"));
      return { outcome: "applied", dueInMs: undefined };
    });
    await world.request(keyOf("web"));
    const [handled] = world.queue.receive(10, 60_000);
    const bodies = Array.from({ length: 20 }, (_, index) => JSON.stringify({ key: formatWorkKey(keyOf(`o${index}`)) }));
    const late = bodies.map((body, index) => ({ id: `late ${index}`, body, receives: 1 }));
    const event = sqsEvent([...(handled === undefined ? [] : [handled]), ...late]);
    const { batchItemFailures } = await world.handler(event, invocation.signal);
    expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toContain("late 19");
    expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).not.toContain(handled?.id);
  });

  test("refuses an event of another shape", async () => {
    using world = reconcileWorld(async () => ({ outcome: "applied", dueInMs: undefined }));
    await expect(world.handler({ records: [] }, never)).rejects.toThrow("Records");
  });
});
