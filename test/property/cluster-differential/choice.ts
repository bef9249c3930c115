import type { Random } from "../../unit/queue/simulator/random.ts";

/** One of a list that is not empty. */
export function pick<Item>(chance: Random, items: readonly [Item, ...Item[]] | readonly Item[]): Item {
  const item = items[chance.int(0, items.length - 1)];
  if (item === undefined) throw new TypeError("there is nothing to choose from");
  return item;
}

/** One of several by weight. */
export function weighted<Item>(chance: Random, items: readonly (readonly [weight: number, item: Item])[]): Item {
  const total = items.reduce((sum, [weight]) => sum + weight, 0);
  let left = chance.next() * total;
  for (const [weight, item] of items) {
    left -= weight;
    if (left < 0) return item;
  }
  return pick(chance, items)[1];
}
