/** A seeded source of chance (mulberry32): the same seed, the same run. */
export interface Random {
  /** Between 0 (included) and 1. */
  next(): number;
  /** A whole number, both ends included. */
  int(min: number, max: number): number;
  chance(probability: number): boolean;
  /** One of these, which are at least one. */
  pick<Item>(items: readonly Item[]): Item;
}

export function random(seed: number): Random {
  let state = (seed * 0x9e3779b1) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    int: (min, max) => min + Math.floor(next() * (max - min + 1)),
    chance: (probability) => next() < probability,
    pick(items) {
      const index = Math.floor(next() * items.length);
      for (const picked of items.slice(index, index + 1)) return picked;
      throw new Error("nothing to pick from");
    },
  };
}
