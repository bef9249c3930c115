import { expect, test } from "vitest";
import type { WorkItem } from "../../../lib/core/ports/work-items.ts";
import { setAside } from "../../../lib/queue/handle-wake-up.ts";
import { never, workItem } from "../../contract/state-back-end.ts";
import { key, queueWorld } from "./queue-world.ts";

const { deps } = queueWorld();
const now = deps.clock.now();
const lease = { holder: "other", renewals: 0 };

test.each<{ name: string; item: Partial<WorkItem>; wakeUntil: number | undefined; written: boolean }>([
  { name: "that is under way no longer counts as such", item: { wakeUntil: now + 1 }, wakeUntil: now, written: true },
  { name: "that is not under way is left", item: { wakeUntil: now }, wakeUntil: now, written: false },
  { name: "that was not sent is left", item: { dueAt: now + 1 }, wakeUntil: undefined, written: false },
  { name: "that a run serves is left", item: { wakeUntil: now + 1, lease }, wakeUntil: now + 1, written: false },
])("a wake-up $name, and its requests stay", async ({ item, wakeUntil, written }) => {
  const world = queueWorld();
  const before = workItem(key, { requested: 3, started: 2, attempts: 1, ...item });
  world.store(before);
  await setAside(key, world.deps, never);
  expect(world.row()).toEqual({ ...before, version: written ? 2 : 1, wakeUntil });
});

test("a wake-up of an object that is unknown makes none", async () => {
  const world = queueWorld();
  await setAside(key, world.deps, never);
  expect(world.row()).toBeUndefined();
});
