import { describe, expect, test } from "vitest";
import type { InventoryEntry } from "../../../../lib/core/ports/inventory-store.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { sqliteInventoryStore } from "../../../../local/state/inventory-store.ts";
import { openStateDatabase, type StateDatabase } from "../../../../local/state/state-database.ts";
import { sqliteWorkItems } from "../../../../local/state/work-items.ts";
import { keyOf, never, workItem } from "../../../contract/state-back-end.ts";

const owner = { uid: "uid-1", clusterUid: "cluster-1" };
const fence = { key: keyOf("web"), token: 1 };

async function withInventory(
  work: (
    database: StateDatabase,
    save: (entries: readonly InventoryEntry[], at: number) => Promise<void>,
  ) => Promise<void>,
): Promise<void> {
  const database = openStateDatabase(":memory:");
  let now = 0;
  const store = sqliteInventoryStore(database, { ...systemClock, now: () => now });
  await sqliteWorkItems(database).put(workItem(fence.key, { token: 1, lease: { holder: "h", renewals: 0 } }), never);
  try {
    await work(database, (entries, at) => {
      now = at;
      return store.save(owner, entries, fence, never);
    });
  } finally {
    database.close();
  }
}

function entries(count: number): InventoryEntry[] {
  return Array.from({ length: count }, (_, number) => ({ id: `id-${number}`, version: "v1", state: "live" }));
}

function rows(database: StateDatabase, where = "1"): number {
  const row = database.connection.prepare(`SELECT count(*) AS n FROM inventory_pages WHERE ${where}`).get();
  return Number(row?.["n"]);
}

describe("the inventory in the state file", () => {
  test("writes nothing if the same is saved again, and one page if one entry changes", async () => {
    await withInventory(async (database, save) => {
      const all = entries(2_000);
      await save(all, 0);
      expect(rows(database)).toBe(16);
      await save(all, 0);
      expect(rows(database)).toBe(16);
      await save(all.with(500, { id: "id-500", version: "v2", state: "live" }), 0);
      expect(rows(database)).toBe(17);
      expect(rows(database, "replaced_at IS NOT NULL")).toBe(1);
    });
  });

  test("deletes pages without a pointer ten minutes later", async () => {
    await withInventory(async (database, save) => {
      await save(entries(1), 0);
      await save(entries(2), 1_000);
      await save(entries(3), 600_000);
      expect(rows(database)).toBe(3);
      await save(entries(4), 601_001);
      expect(rows(database)).toBe(3);
    });
  });

  test("keeps unchanged pages as long as the inventory names them", async () => {
    await withInventory(async (database, save) => {
      const all = entries(2_000);
      await save(all, 0);
      for (const at of [1_000, 700_000, 1_400_000]) {
        await save(all.with(500, { id: "id-500", version: `v${at}`, state: "live" }), at);
      }
      const store = sqliteInventoryStore(database, systemClock);
      expect(await store.load(owner, fence, never)).toHaveLength(2_000);
    });
  });
});
