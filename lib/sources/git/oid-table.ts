import { randomFillSync } from "node:crypto";

const oidBytes = 20;
const free = -1;

/**
 * A random number for each value of each byte of an id. The hash of an id is the exclusive or of those of its bytes (tabulation
 * hashing): the one who does not know the numbers cannot choose ids that fall together, as he could by the ids' own bytes.
 */
const randomNumbers = randomFillSync(new Int32Array(oidBytes * 256));

function hashOf(bytes: Buffer, at: number): number {
  let hash = 0;
  for (let index = 0; index < oidBytes; index++) hash ^= randomNumbers[index * 256 + (bytes[at + index] ?? 0)] ?? 0;
  return hash;
}

/**
 * Finds ids that stand one after the other in a buffer by a hash table of their positions: 8 bytes an id, where a `Map` of
 * strings takes a hundred.
 */
export interface OidTable {
  /** Adds the id at a position. Answers the position of an equal one that was there before it, else -1. */
  add(position: number): number;
  /** The position of the id at `at` in these bytes, or -1. */
  find(bytes: Buffer, at: number): number;
}

export function oidTable(oids: Buffer, capacity: number): OidTable {
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(capacity, 1) * 2))).fill(free);
  const mask = slots.length - 1;

  /** The slot that holds this id, or the free one where it belongs. */
  const slotOf = (bytes: Buffer, at: number): number => {
    let slot = hashOf(bytes, at) & mask;
    for (let held = slots[slot] ?? free; held !== free; held = slots[slot] ?? free) {
      if (bytes.compare(oids, held * oidBytes, (held + 1) * oidBytes, at, at + oidBytes) === 0) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  };

  return {
    add(position) {
      const slot = slotOf(oids, position * oidBytes);
      const held = slots[slot] ?? free;
      if (held === free) slots[slot] = position;
      return held;
    },
    find: (bytes, at) => slots[slotOf(bytes, at)] ?? free,
  };
}
