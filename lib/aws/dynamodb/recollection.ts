import type { Fence } from "../../core/ports/fence.ts";
import type { WorkItem } from "../../core/ports/work-items.ts";
import { formatWorkKey, type WorkKey } from "../../core/work-key.ts";
import type { InventoryPointer } from "./inventory-pointer.ts";

/** An inventory as this process last read or wrote it. `none`: there is none, for sure. */
export type KnownInventory =
  | "none"
  | {
      readonly pointer: InventoryPointer;
      /** The texts of its pages, where they have been read. */
      readonly texts?: readonly string[] | undefined;
    };

/** What one read of a work item showed of the object's other rows. */
export interface Sight {
  readonly item: WorkItem;
  /** The digest of what the object listens to. */
  readonly edges: string | undefined;
  /** The pointer that the row says is the latest, with its owner; `none` where none was ever saved; undefined: cannot tell. */
  readonly inventory: { readonly owner: string; readonly pointer: InventoryPointer } | "none" | undefined;
}

/**
 * What the read of a work item showed of the object's other rows, so that a run need not read them again.
 *
 * Sound by the lease: between an item seen without a lease and the write to that very version that takes one, nobody can
 * have held another, and from then on nobody else may write these rows. What is not so certain is forgotten.
 */
export interface Recollection {
  saw(key: WorkKey, sight: Sight | undefined): void;
  /** This process has stored this item. */
  stored(item: WorkItem): void;
  /** The digest of what the object listens to, while this process holds its lease. */
  edgesOf(key: WorkKey): string | undefined;
  /** Undefined: it cannot be told by now. */
  sawEdges(key: WorkKey, edges: string | undefined): void;
  /** Undefined where it has to be read. */
  inventoryOf(owner: string, fence: Fence): KnownInventory | undefined;
  /** Undefined: it cannot be told by now. */
  sawInventory(owner: string, fence: Fence, inventory: KnownInventory | undefined): void;
}

interface Known {
  readonly version: number;
  /** The lease that this process took right after it saw the item; undefined before. */
  token: number | undefined;
  edges: string | undefined;
  readonly inventories: Map<string, KnownInventory>;
  /** There is no inventory but these. */
  hasNoOther: boolean;
}

/** Objects remembered at most, the latest; one process works on a few at a time. */
const maxObjects = 64;

export function newRecollection(): Recollection {
  const byKey = new Map<string, Known>();
  const held = (fence: Fence): Known | undefined => {
    const known = byKey.get(formatWorkKey(fence.key));
    return known?.token === fence.token ? known : undefined;
  };
  return {
    saw(key, sight) {
      const text = formatWorkKey(key);
      const isOurs = sight?.item.lease !== undefined && byKey.get(text)?.token === sight.item.token;
      if (isOurs) return;
      byKey.delete(text);
      if (sight === undefined || sight.item.lease !== undefined) return;
      byKey.set(text, knownFrom(sight));
      const [oldest] = byKey.keys();
      if (byKey.size > maxObjects && oldest !== undefined) byKey.delete(oldest);
    },
    stored(item) {
      const text = formatWorkKey(item.key);
      const known = byKey.get(text);
      if (known === undefined) return;
      const isRenewed = known.token === item.token;
      const isTaken = known.token === undefined && known.version === item.version - 1;
      if (item.lease === undefined || !(isRenewed || isTaken)) byKey.delete(text);
      else known.token = item.token;
    },
    edgesOf(key) {
      const known = byKey.get(formatWorkKey(key));
      return known?.token === undefined ? undefined : known.edges;
    },
    sawEdges(key, edges) {
      const known = byKey.get(formatWorkKey(key));
      if (known !== undefined) known.edges = edges;
    },
    inventoryOf(owner, fence) {
      const known = held(fence);
      return known?.inventories.get(owner) ?? (known?.hasNoOther === true ? "none" : undefined);
    },
    sawInventory(owner, fence, inventory) {
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

function knownFrom({ item, edges, inventory }: Sight): Known {
  const inventories = new Map<string, KnownInventory>();
  if (typeof inventory === "object") inventories.set(inventory.owner, { pointer: inventory.pointer });
  return { version: item.version, token: undefined, edges, inventories, hasNoOther: inventory === "none" };
}
