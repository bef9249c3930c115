import { afterEach, beforeEach, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../../../lib/core/json.ts";
import { UnreadableWorkItem } from "../../../../lib/core/ports/work-items.ts";
import { formatWorkKey } from "../../../../lib/core/work-key.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { reconcileRequests } from "../../../../lib/queue/request-reconcile.ts";
import { rules } from "../../../../lib/queue/rules.ts";
import { sweep, voidLeases } from "../../../../lib/queue/sweep.ts";
import { openStateDatabase } from "../../../../local/state/state-database.ts";
import { sqliteWorkItems } from "../../../../local/state/work-items.ts";
import { keyOf, never, workItem } from "../../../contract/state-back-end.ts";
import { silentLog } from "../../../doubles/silent-log.ts";

let database: ReturnType<typeof openStateDatabase>;
beforeEach(() => {
  database = openStateDatabase(":memory:");
});
afterEach(() => database.close());

/** The queue on a state file, with the objects that were woken and the rows that the log names. */
function queue() {
  const woken: string[] = [];
  const named: unknown[] = [];
  const items = sqliteWorkItems(database);
  const deps = {
    items,
    clock: systemClock,
    rules,
    wakeUps: { send: async ({ key }: { key: string }) => void woken.push(key) },
    log: { ...silentLog, error: (_: string, fields?: Readonly<Record<string, unknown>>) => void named.push(fields) },
  };
  return { deps, items, woken, named };
}

function storedOf(name: string): JsonObject {
  const row = database.connection.prepare("SELECT item FROM work_items WHERE key = ?").get(formatWorkKey(keyOf(name)));
  const stored: unknown = JSON.parse(String(row?.["item"]));
  if (!isJsonObject(stored)) throw new Error("no item");
  return stored;
}

/** Writes into an item's row what a later release may have written there. */
function rewrite(name: string, change: (stored: JsonObject) => JsonObject): void {
  const update = database.connection.prepare("UPDATE work_items SET item = ? WHERE key = ?");
  update.run(JSON.stringify(change(storedOf(name))), formatWorkKey(keyOf(name)));
}

const unreadable = (stored: JsonObject): JsonObject => ({ ...stored, phase: "Hibernating" });

test("after a rollback the sweep wakes items that a later release has written, and keeps their fields at every level", async () => {
  const { deps, items, woken, named } = queue();
  const lease = { holder: "h", renewals: 0 };
  const seen = { objectUid: "o", clusterUid: "c" };
  await items.put(workItem(keyOf("web"), { dueAt: 5, lease, seen }), never);
  const later = { priority: 3 };
  rewrite("web", (stored) => ({
    ...stored,
    ...later,
    lease: { ...lease, ...later },
    seen: { ...seen, ...later },
  }));
  expect(await sweep(deps, never)).toBe(1);
  expect(woken).toEqual([formatWorkKey(keyOf("web"))]);
  expect(storedOf("web")).toMatchObject({ version: 2, ...later, lease: later, seen: later });
  expect(named).toEqual([]);
});

test("a row that cannot be parsed is named, stays unchanged, and does not keep other items from being woken", async () => {
  const { deps, items, woken, named } = queue();
  for (let index = 0; index < 150; index += 1) await items.put(workItem(keyOf(`odd-${index}`), { dueAt: 1 }), never);
  for (let index = 0; index < 150; index += 1) rewrite(`odd-${index}`, unreadable);
  const before = storedOf("odd-7");
  const others = Array.from({ length: 120 }, (_, index) => keyOf(`web-${index}`));
  for (const key of others) await items.put(workItem(key, { dueAt: 5 }), never);
  expect(await sweep(deps, never)).toBe(120);
  expect(woken.toSorted()).toEqual(others.map(formatWorkKey).toSorted());
  expect(storedOf("odd-7")).toEqual(before);
  expect(named).toHaveLength(20);
  expect(named[0]).toEqual({
    row: formatWorkKey(keyOf("odd-0")),
    error: expect.stringContaining("phase"),
    unreadable: 150,
  });
});

test("a new process voids the leases that it can read", async () => {
  const { deps, items, woken, named } = queue();
  const lease = { holder: "h", renewals: 0 };
  for (const name of ["a", "odd", "web"]) await items.put(workItem(keyOf(name), { lease }), never);
  rewrite("odd", unreadable);
  expect(await voidLeases(deps, never)).toBe(2);
  expect(woken.toSorted()).toEqual(["a", "web"].map((name) => formatWorkKey(keyOf(name))));
  expect(named).toEqual([expect.objectContaining({ row: formatWorkKey(keyOf("odd")) })]);
});

test("a request for an object whose row cannot be parsed is named, and does not fail a request for several", async () => {
  const { deps, items, woken, named } = queue();
  for (const name of ["odd", "web"]) await items.put(workItem(keyOf(name)), never);
  rewrite("odd", unreadable);
  const requests = reconcileRequests(deps);
  for (const name of ["odd", "web"]) await requests.request(keyOf(name), "test", never);
  expect(woken).toEqual([formatWorkKey(keyOf("web"))]);
  expect(named).toEqual([expect.objectContaining({ row: formatWorkKey(keyOf("odd")) })]);
  await expect(items.get(keyOf("odd"), never)).rejects.toThrow(UnreadableWorkItem);
});

test.each<[string, JsonObject]>([
  ["phase must be Active or Poisoned", { phase: "Hibernating" }],
  ["requested must be a number", { requested: "3" }],
  ["requested must be at least 0; attempts must be a whole number", { requested: -1, attempts: 0.5 }],
  ["lease has an unknown form", { lease: 3 }],
  ["key names no object", { key: "web" }],
])("a row that cannot be parsed is reported with the field and its valid values: %s", async (fault, change) => {
  const { items } = queue();
  await items.put(workItem(keyOf("web")), never);
  rewrite("web", (stored) => ({ ...stored, ...change }));
  const text = `the work item of ${formatWorkKey(keyOf("web"))} cannot be read, another release may have written it: ${fault}`;
  await expect(items.get(keyOf("web"), never)).rejects.toMatchObject({ message: text });
});
