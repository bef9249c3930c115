import { expect, test } from "vitest";
import type { WorkItem } from "../../../lib/core/ports/work-items.ts";
import { setAside } from "../../../lib/queue/handle-wake-up.ts";
import { never, workItem } from "../../contract/state-back-end.ts";
import { key, queueWorld } from "./queue-world.ts";

const { deps } = queueWorld();
const now = deps.clock.now();
const lease = { holder: "other", renewals: 0 };

test.each<{ name: string; item: Partial<WorkItem>; wakeUntil: number | undefined; written: boolean }>([
  {
    name: "that is running is no longer counted as running",
    item: { wakeUntil: now + 1 },
    wakeUntil: now,
    written: true,
  },
  { name: "that is not running is skipped", item: { wakeUntil: now }, wakeUntil: now, written: false },
  { name: "that was not sent is skipped", item: { dueAt: now + 1 }, wakeUntil: undefined, written: false },
  { name: "that a run serves is skipped", item: { wakeUntil: now + 1, lease }, wakeUntil: now + 1, written: false },
])("a wake-up $name, and its requests stay", async ({ item, wakeUntil, written }) => {
  const world = queueWorld();
  const before = workItem(key, { requested: 3, started: 2, attempts: 1, ...item });
  world.store(before);
  await setAside(key, world.deps, never);
  expect(world.row()).toEqual({ ...before, version: written ? 2 : 1, wakeUntil });
});

test("a wake-up for an unknown object sets nothing aside", async () => {
  const world = queueWorld();
  await setAside(key, world.deps, never);
  expect(world.row()).toBeUndefined();
});
