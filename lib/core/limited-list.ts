import { z } from "zod";

/**
 * A list of at most `max` items. A longer one is refused before its items are looked at: each bad one would make an issue,
 * and a list of a megabyte a message of many.
 */
export function limitedList<Item extends z.ZodType>(item: Item, max: number) {
  return z.array(z.unknown()).max(max, `has more than ${max} items`).pipe(z.array(item));
}

/** A mapping of at most `max` entries, for the same reason. */
export function limitedMap<Value extends z.ZodType>(value: Value, max: number) {
  return z
    .record(z.string(), z.unknown())
    .refine((entries) => Object.keys(entries).length <= max, `has more than ${max} entries`)
    .pipe(z.record(z.string(), value));
}
