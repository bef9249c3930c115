import { describe, expect, test } from "vitest";
import { sweepHandler } from "../../../functions/sweep.ts";
import type { PartialObject } from "../../../lib/core/ports/cluster.ts";
import { GateClosed, type WriteGate } from "../../../lib/core/ports/write-gate.ts";
import { systemClock } from "../../../lib/core/system-clock.ts";
import { reconcileRequests } from "../../../lib/queue/request-reconcile.ts";
import { rules } from "../../../lib/queue/rules/rules.ts";
import { sqliteMessageQueue } from "../../../local/state/message-queue.ts";
import { sqliteSightings } from "../../../local/state/sightings.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { queuedWakeUps } from "../../../local/state/wake-ups.ts";
import { sqliteWorkItems } from "../../../local/state/work-items.ts";
import { keyOf, never, workItem } from "../../contract/state-back-end.ts";
import { openGate } from "../../doubles/open-gate.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const kind = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };

function kustomization(name: string, generation = 1): PartialObject {
  return {
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: { name, namespace: "apps", uid: `uid-${name}`, generation },
  };
}

function sweepWorld(gate: Pick<WriteGate, "enter"> = openGate) {
  const database = openStateDatabase(":memory:");
  const items = sqliteWorkItems(database);
  const queue = sqliteMessageQueue(database, systemClock);
  const queueDeps = { items, wakeUps: queuedWakeUps(queue), clock: systemClock, log: silentLog, rules };
  const present: PartialObject[] = [];
  const handler = sweepHandler({
    ...queueDeps,
    sightings: sqliteSightings(database),
    requests: reconcileRequests(queueDeps),
    gate,
    kinds: [kind],
    listMetadata: async () => present,
  });
  return {
    items,
    present,
    sweep: (event: unknown = { cluster: "home" }) => handler(event, never),
    /** Names of the objects that were woken since the last look. */
    woken: () => {
      const messages = queue.receive(10, 60_000);
      for (const { id } of messages) queue.remove(id);
      return messages.map(({ body }) => body.replace(/.*\/([^/"]*)".*/, "$1")).toSorted();
    },
    [Symbol.dispose]: () => database.close(),
  };
}

describe("the sweep", () => {
  test("adopts what no event told of: new, changed and vanished resources, each once", async () => {
    using world = sweepWorld();
    world.present.push(kustomization("web"), kustomization("db"));
    await world.sweep();
    expect(world.woken()).toEqual(["db", "web"]);
    await world.sweep();
    expect(world.woken()).toEqual([]);

    // A run has started on each, so a further request is not covered by the first.
    for (const name of ["web", "db"]) {
      const item = await world.items.get(keyOf(name), never);
      if (item === undefined) throw new Error("no work item");
      await world.items.put(
        { ...item, version: item.version + 1, started: 1, handled: 1, wakeUntil: undefined },
        never,
      );
    }
    world.present.splice(0, 2, kustomization("web", 2));
    await world.sweep();
    expect(world.woken()).toEqual(["db", "web"]);
    await world.sweep();
    expect(world.woken()).toEqual([]);
  });

  test("wakes what is overdue", async () => {
    using world = sweepWorld();
    await world.items.put(workItem(keyOf("late"), { started: 1, handled: 1, dueAt: systemClock.now() - 1 }), never);
    await world.items.put(
      workItem(keyOf("early"), { started: 1, handled: 1, dueAt: systemClock.now() + 60_000 }),
      never,
    );
    await world.sweep();
    expect(world.woken()).toEqual(["late"]);
  });

  test("sends nothing and takes nothing for seen while the gate is closed, and makes it all good once it is open", async () => {
    let isOpen = false;
    using world = sweepWorld({
      enter: async () => {
        if (!isOpen) throw new GateClosed("this cluster belongs to another Sluice");
      },
    });
    await world.items.put(workItem(keyOf("late"), { started: 1, handled: 1, dueAt: systemClock.now() - 1 }), never);
    world.present.push(kustomization("web"));
    await world.sweep();
    expect(world.woken()).toEqual([]);
    isOpen = true;
    await world.sweep();
    expect(world.woken()).toEqual(["late", "web"]);
  });

  test("an event of another shape is refused", async () => {
    using world = sweepWorld();
    await expect(world.sweep({})).rejects.toThrow("cluster");
    await expect(world.sweep({ cluster: "home", force: true })).rejects.toThrow("force");
  });
});
