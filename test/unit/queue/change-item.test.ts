import { expect, test } from "vitest";
import { changeItem, instant } from "../../../lib/queue/change-item.ts";
import { never, workItem } from "../../contract/state-back-end.ts";
import { key, queueWorld } from "./queue-world.ts";

test("a lease counts from before its write is sent, however late the answer comes", async () => {
  const { deps, freeze } = queueWorld();
  const before = instant(deps);
  const put: typeof deps.items.put = async (...args) => {
    freeze(20_000);
    return deps.items.put(...args);
  };
  const items = { ...deps.items, put };
  const { since } = await changeItem(key, () => ({ item: workItem(key), outcome: 0 }), { ...deps, items }, never);
  expect(since).toEqual(before);
});

test("a write without an answer stays unknown, even if a retry finds another version", async () => {
  const { deps } = queueWorld();
  const answers = [
    () => Promise.reject(new Error("no answer")),
    () => Promise.resolve("conflict" as const),
    () => Promise.resolve("stored" as const),
  ];
  const items = { ...deps.items, put: () => answers.shift()?.() ?? Promise.reject(new Error("one write too many")) };
  const doubts: boolean[] = [];
  const decide = (_: unknown, inDoubt: boolean) => {
    doubts.push(inDoubt);
    return { item: workItem(key), outcome: 0 };
  };
  await changeItem(key, decide, { ...deps, items }, never);
  expect(doubts).toEqual([false, true, true]);
});
