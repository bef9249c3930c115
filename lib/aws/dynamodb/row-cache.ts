import type { Fence } from "../../core/ports/fence.ts";
import type { WorkItem } from "../../core/ports/work-items.ts";
import { formatWorkKey, type WorkKey } from "../../core/work-key.ts";
import type { InventoryPointer } from "./inventory-pointer.ts";

/** An inventory as this process last read or wrote it. `none`: there certainly is no saved inventory. */
export type KnownInventory =
  | "none"
  | {
      readonly pointer: InventoryPointer;
      /** The texts of its pages, if they were read. */
      readonly texts?: readonly string[] | undefined;
    };

/** A work item and what was read of the object's other rows along with it. */
export interface ReadRows {
  readonly item: WorkItem;
  /** The digest of the topics that the object subscribes to. */
  readonly subscriptions: string | undefined;
  /** The latest inventory pointer with its owner; `none`: there is no saved inventory; undefined: unknown. */
  readonly inventory: { readonly owner: string; readonly pointer: InventoryPointer } | "none" | undefined;
}

/**
 * A cache of an object's other rows that were read along with its work item, so that a run need not read them again.
 *
 * The lease makes it correct: between the read of an item without a lease and the conditional write that takes the lease, no other lease
 * can have existed, and from then on no other process may write these rows. Rows that are less certain are dropped.
 */
export interface RowCache {
  itemRead(key: WorkKey, rows: ReadRows | undefined): void;
  /** This process has stored this item. */
  itemStored(item: WorkItem): void;
  /** The digest of the topics that the object subscribes to, while this process holds its lease. */
  subscriptionsOf(key: WorkKey): string | undefined;
  /** Undefined: it is no longer known. */
  setSubscriptions(key: WorkKey, subscriptions: string | undefined): void;
  /** Undefined if it has to be read. */
  inventoryOf(owner: string, fence: Fence): KnownInventory | undefined;
  /** The owners of all saved inventories; undefined if they have to be read. */
  inventoryOwners(fence: Fence): readonly string[] | undefined;
  /** Undefined: it is no longer known. */
  setInventory(owner: string, fence: Fence, inventory: KnownInventory | undefined): void;
}

interface Known {
  readonly version: number;
  /** The lease that this process took right after it read the item; undefined before. */
  token: number | undefined;
  subscriptions: string | undefined;
  readonly inventories: Map<string, KnownInventory>;
  /** There are no other inventories. */
  hasNoOther: boolean;
}

/** The most objects in the cache, the latest; one process works on a few at a time. */
const maxObjects = 64;

export function newRowCache(): RowCache {
  const byKey = new Map<string, Known>();
  const held = (fence: Fence): Known | undefined => {
    const known = byKey.get(formatWorkKey(fence.key));
    return known?.token === fence.token ? known : undefined;
  };
  return {
    itemRead(key, rows) {
      const text = formatWorkKey(key);
      const isOurs = rows?.item.lease !== undefined && byKey.get(text)?.token === rows.item.token;
      if (isOurs) return;
      byKey.delete(text);
      if (rows === undefined || rows.item.lease !== undefined) return;
      byKey.set(text, knownFrom(rows));
      const [oldest] = byKey.keys();
      if (byKey.size > maxObjects && oldest !== undefined) byKey.delete(oldest);
    },
    itemStored(item) {
      const text = formatWorkKey(item.key);
      const known = byKey.get(text);
      if (known === undefined) return;
      const isRenewed = known.token === item.token;
      const isTaken = known.token === undefined && known.version === item.version - 1;
      if (item.lease === undefined || !(isRenewed || isTaken)) byKey.delete(text);
      else known.token = item.token;
    },
    subscriptionsOf(key) {
      const known = byKey.get(formatWorkKey(key));
      return known?.token === undefined ? undefined : known.subscriptions;
    },
    setSubscriptions(key, subscriptions) {
      const known = byKey.get(formatWorkKey(key));
      if (known !== undefined) known.subscriptions = subscriptions;
    },
    inventoryOf(owner, fence) {
      const known = held(fence);
      return known?.inventories.get(owner) ?? (known?.hasNoOther === true ? "none" : undefined);
    },
    inventoryOwners(fence) {
      const known = held(fence);
      if (known?.hasNoOther !== true) return undefined;
      return [...known.inventories].flatMap(([owner, inventory]) => (inventory === "none" ? [] : [owner]));
    },
    setInventory(owner, fence, inventory) {
      const known = held(fence);
      if (known === undefined) return;
      if (inventory !== undefined) known.inventories.set(owner, inventory);
      else {
        known.inventories.delete(owner);
        known.hasNoOther = false;
      }
    },
  };
}

function knownFrom({ item, subscriptions, inventory }: ReadRows): Known {
  const inventories = new Map<string, KnownInventory>();
  if (typeof inventory === "object") inventories.set(inventory.owner, { pointer: inventory.pointer });
  return { version: item.version, token: undefined, subscriptions, inventories, hasNoOther: inventory === "none" };
}
