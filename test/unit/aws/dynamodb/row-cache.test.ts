import { describe, expect, test } from "vitest";
import { newRowCache, type ReadRows } from "../../../../lib/aws/dynamodb/row-cache.ts";
import type { Fence } from "../../../../lib/core/ports/fence.ts";
import { keyOf, workItem } from "../../../contract/state-back-end.ts";

const key = keyOf("web");
const pointer = { generation: "1-a", content: { kind: "inline", texts: [] } } as const;
const lease = { holder: "h", renewals: 0 };

/** An object whose item was seen at version 3 without a lease, with its subscriptions and its inventory. */
function seen(more: Partial<ReadRows> = {}) {
  const rowCache = newRowCache();
  const item = workItem(key, { version: 3, token: 1 });
  rowCache.itemRead(key, { item, subscriptions: "e", inventory: { owner: "o", pointer }, ...more });
  return rowCache;
}

function known(rowCache: ReturnType<typeof newRowCache>, token: number, owner = "o") {
  const fence: Fence = { key, token };
  return { subscriptions: rowCache.subscriptionsOf(key), inventory: rowCache.inventoryOf(owner, fence) };
}

const nothing = { subscriptions: undefined, inventory: undefined };

describe("rows that were read together with a work item", () => {
  test("are cached under the lease that was taken on exactly that version", () => {
    const rowCache = seen();
    expect(known(rowCache, 2)).toEqual(nothing);
    rowCache.itemStored(workItem(key, { version: 4, token: 2, lease }));
    expect(known(rowCache, 2)).toEqual({ subscriptions: "e", inventory: { pointer } });
  });

  test("are dropped if the lease was taken on a later version, because another may have held it in between", () => {
    const rowCache = seen();
    rowCache.itemStored(workItem(key, { version: 5, token: 3, lease }));
    expect(known(rowCache, 3)).toEqual(nothing);
  });

  test("are not used under another lease than the one that was taken", () => {
    const rowCache = seen();
    rowCache.itemStored(workItem(key, { version: 4, token: 2, lease }));
    expect(known(rowCache, 3).inventory).toBeUndefined();
    rowCache.setInventory("o", { key, token: 3 }, "none");
    expect(known(rowCache, 2).inventory).toEqual({ pointer });
  });

  test("stay cached through the renewals of their lease and expire with it", () => {
    const rowCache = seen();
    for (const version of [4, 5, 6]) rowCache.itemStored(workItem(key, { version, token: 2, lease }));
    expect(known(rowCache, 2).subscriptions).toBe("e");
    rowCache.itemStored(workItem(key, { version: 7, token: 2 }));
    expect(known(rowCache, 2)).toEqual(nothing);
  });

  test("are not used while another holder has the lease", () => {
    const rowCache = seen({ item: workItem(key, { version: 3, token: 1, lease }) });
    rowCache.itemStored(workItem(key, { version: 4, token: 2, lease }));
    expect(known(rowCache, 2)).toEqual(nothing);
  });

  test("show that there is no inventory only until a write of one has an unknown result", () => {
    const rowCache = seen({ inventory: "none" });
    rowCache.itemStored(workItem(key, { version: 4, token: 2, lease }));
    expect(known(rowCache, 2, "any").inventory).toBe("none");
    rowCache.setInventory("o", { key, token: 2 }, undefined);
    expect(known(rowCache, 2, "any").inventory).toBeUndefined();
  });
});
