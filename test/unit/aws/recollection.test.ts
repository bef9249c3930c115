import { describe, expect, test } from "vitest";
import { newRecollection, type Sight } from "../../../lib/aws/dynamodb/recollection.ts";
import type { Fence } from "../../../lib/core/ports/fence.ts";
import { keyOf, workItem } from "../../contract/state-back-end.ts";

const key = keyOf("web");
const pointer = { generation: "1-a", content: { kind: "inline", texts: [] } } as const;
const lease = { holder: "h", renewals: 0 };

/** An object whose item was seen at version 3 without a lease, with its edges and its inventory. */
function seen(more: Partial<Sight> = {}) {
  const recollection = newRecollection();
  const item = workItem(key, { version: 3, token: 1 });
  recollection.saw(key, { item, edges: "e", inventory: { owner: "o", pointer }, ...more });
  return recollection;
}

function known(recollection: ReturnType<typeof newRecollection>, token: number, owner = "o") {
  const fence: Fence = { key, token };
  return { edges: recollection.edgesOf(key), inventory: recollection.inventoryOf(owner, fence) };
}

const nothing = { edges: undefined, inventory: undefined };

describe("what was seen beside a work item", () => {
  test("is known under the lease that was taken on that very version", () => {
    const recollection = seen();
    expect(known(recollection, 2)).toEqual(nothing);
    recollection.stored(workItem(key, { version: 4, token: 2, lease }));
    expect(known(recollection, 2)).toEqual({ edges: "e", inventory: { pointer } });
  });

  test("is forgotten where the lease was taken on a later version: another may have held it between", () => {
    const recollection = seen();
    recollection.stored(workItem(key, { version: 5, token: 3, lease }));
    expect(known(recollection, 3)).toEqual(nothing);
  });

  test("is of no use under another lease than the one that was taken", () => {
    const recollection = seen();
    recollection.stored(workItem(key, { version: 4, token: 2, lease }));
    expect(known(recollection, 3).inventory).toBeUndefined();
    recollection.sawInventory("o", { key, token: 3 }, "none");
    expect(known(recollection, 2).inventory).toEqual({ pointer });
  });

  test("lives with the renewals of its lease and ends with it", () => {
    const recollection = seen();
    for (const version of [4, 5, 6]) recollection.stored(workItem(key, { version, token: 2, lease }));
    expect(known(recollection, 2).edges).toBe("e");
    recollection.stored(workItem(key, { version: 7, token: 2 }));
    expect(known(recollection, 2)).toEqual(nothing);
  });

  test("is no word while somebody holds the lease", () => {
    const recollection = seen({ item: workItem(key, { version: 3, token: 1, lease }) });
    recollection.stored(workItem(key, { version: 4, token: 2, lease }));
    expect(known(recollection, 2)).toEqual(nothing);
  });

  test("tells that there is no inventory only until one is in doubt", () => {
    const recollection = seen({ inventory: "none" });
    recollection.stored(workItem(key, { version: 4, token: 2, lease }));
    expect(known(recollection, 2, "any").inventory).toBe("none");
    recollection.sawInventory("o", { key, token: 2 }, undefined);
    expect(known(recollection, 2, "any").inventory).toBeUndefined();
  });
});
