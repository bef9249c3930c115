import { describe, expect, test } from "vitest";
import { limitsOf } from "../../../functions/cluster-limits.ts";
import { sweepHandler } from "../../../functions/sweep.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { rules } from "../../../lib/queue/rules.ts";
import { notRunSweeps } from "../../../lib/queue/timing.ts";
import { sqliteClusterStates } from "../../../local/state/cluster-states.ts";
import { queuedSweepRequests, queuedWakeUps, sqliteMessageQueue } from "../../../local/state/message-queue.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { sqliteWorkItems } from "../../../local/state/work-items.ts";
import { keyOf, never, workItem } from "../../contract/state-back-end.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";

function sweepWorld(refused?: string) {
  const database = openStateDatabase(":memory:");
  const items = sqliteWorkItems(database);
  const queue = sqliteMessageQueue(database, systemClock);
  const clusterStates = sqliteClusterStates(database);
  const requests = queuedSweepRequests(queue);
  const metrics = recordedMetrics();
  let passedMs = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + passedMs };
  const handler = sweepHandler({
    ...{ items, clock, log: silentLog, metrics, rules },
    kinds: declaredKinds,
    wakeUps: queuedWakeUps(queue),
    clusters: () => ["home", arn],
    limits: limitsOf({
      clusterStates,
      clusters: { get: () => undefined },
      maxRuns: () => 20,
      clock: systemClock,
      log: silentLog,
      metrics: recordedMetrics(),
    }),
    sweepRequests: {
      send: (cluster, signal) =>
        cluster === refused ? Promise.reject(new Error("its queue is gone")) : requests.send(cluster, signal),
    },
  });
  return {
    ...{ items, clusterStates, database },
    counted: metrics.recorded,
    /** A sweep each minute. */
    async minutes(count: number) {
      for (let minute = 0; minute < count; minute += 1) {
        passedMs += 61_000;
        await handler({}, never);
      }
    },
    sweep: (event: unknown = {}) => handler(event, never),
    /** What was sent. */
    sent: () => {
      const messages = queue.receive(10, 60_000);
      for (const { id } of messages) queue.remove(id);
      return messages.map(({ body }) => body.replace(/.*\/([^/"]*)".*/, "$1")).toSorted();
    },
    [Symbol.dispose]: () => database.close(),
  };
}

const due = { started: 1, handled: 1, dueAt: systemClock.now() - 1 };
/** Of a kind that Sluice reconciles. */
const kustomization = (name: string) => ({ ...keyOf(name), group: "kustomize.toolkit.fluxcd.io" });
const sweeps = ['{"sweep":"home"}', "prod"];

describe("the sweep", () => {
  test("counts an object that it wakes for a quarter of an hour while no run starts, but none that has run", async () => {
    using world = sweepWorld();
    await world.items.put(workItem(kustomization("web"), due), never);
    await world.minutes(notRunSweeps);
    expect(world.counted.splice(0)).toEqual([]);
    await world.minutes(2);
    const told = (wakeUps: number) => ["Kustomization/apps/web", { ReconcilesNotRun: 1 }, { wakeUps: String(wakeUps) }];
    expect(world.counted.splice(0)).toEqual([told(notRunSweeps), told(notRunSweeps + 1)]);
    const item = await world.items.get(kustomization("web"), never);
    const key = "home/kustomize.toolkit.fluxcd.io/Kustomization/apps/web";
    const wakeUp = { key, dueAt: item?.dueAt ?? 0 };
    const decision = rules.onWakeUp(item, { wakeUp, holder: "h", input: undefined, now: systemClock.now() });
    if (decision.kind !== "run") throw new Error("no run begins");
    const { handled, ...run } = { ...decision.item, lease: undefined, wakeUntil: undefined, handled: 0 };
    await world.items.put({ ...run, handled, version: (item?.version ?? 0) + 1, dueAt: due.dueAt }, never);
    await world.minutes(notRunSweeps);
    expect(world.counted).toEqual([]);
  });

  test("counts no object of an undeclared kind, of a cluster on hold, parked or with nothing due", async () => {
    using world = sweepWorld();
    const hold = { kind: "unreachable", reason: "no answer", since: 1, probes: 1 } as const;
    await world.clusterStates.hold(arn, hold, never);
    await world.items.put(workItem({ ...keyOf("old"), kind: "Gone" }, due), never);
    await world.items.put(workItem({ ...kustomization("far"), cluster: arn }, due), never);
    await world.items.put(workItem(kustomization("parked"), { ...due, phase: "Poisoned", attempts: 13 }), never);
    await world.items.put(workItem(kustomization("suspended"), { started: 1, handled: 1 }), never);
    await world.minutes(notRunSweeps + 2);
    expect(world.counted).toEqual([]);
  });

  test("requests the sweep of each cluster, and wakes overdue objects", async () => {
    using world = sweepWorld();
    await world.items.put(workItem(keyOf("late"), due), never);
    await world.items.put(workItem({ ...keyOf("far"), cluster: arn }, due), never);
    await world.items.put(workItem(keyOf("early"), { ...due, dueAt: systemClock.now() + 60_000 }), never);
    await world.sweep();
    expect(world.sent()).toEqual(["far", "late", ...sweeps].toSorted());
  });

  test("skips overdue objects in a cluster that is no longer served", async () => {
    using world = sweepWorld();
    await world.items.put(workItem({ ...keyOf("gone"), cluster: "removed" }, due), never);
    await world.items.put(workItem(keyOf("late"), due), never);
    await world.sweep();
    expect(world.sent()).toEqual(["late", ...sweeps].toSorted());
  });

  test.each(["unreachable", "refused"] as const)(
    "skips overdue objects in a cluster that is on hold: %s",
    async (kind) => {
      using world = sweepWorld();
      await world.clusterStates.hold("home", { kind, reason: "", since: 0, probes: 1 }, never);
      await world.items.put(workItem(keyOf("late"), due), never);
      await world.items.put(workItem({ ...keyOf("far"), cluster: arn }, due), never);
      await world.sweep();
      expect(world.sent()).toEqual(["far", ...sweeps].toSorted());
    },
  );

  test("handles the other clusters if one sweep cannot be requested, and fails at its end", async () => {
    using world = sweepWorld("home");
    await world.items.put(workItem(keyOf("late"), due), never);
    await expect(world.sweep()).rejects.toThrow("the sweep of 1 clusters was not requested");
    expect(world.sent()).toEqual(["late", "prod"]);
  });

  test("an event of another shape is refused", async () => {
    using world = sweepWorld();
    await expect(world.sweep({ cluster: "home" })).rejects.toThrow("cluster");
    await expect(world.sweep([])).rejects.toThrow("expected object");
  });
});
