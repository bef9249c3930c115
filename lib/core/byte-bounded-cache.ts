/** Values that a process caches, by key. The least recently used entry is removed first. */
export interface ByteBoundedCache<Key extends number | string, Value> {
  /** The value is from now on the one that was used last. */
  get(key: Key): Value | undefined;
  /** Replaces a value of this key. An entry that is larger than the whole cache is not kept. */
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  readonly size: number;
}

/** The size of an entry in addition to its key and value: its places in the map, and the objects around them. */
export const entryBytes = 256;

/**
 * A cache whose entries have at most `maxBytes` together, however many they are: outside input decides how large an entry is. The size of
 * an entry is its value, its key with two bytes a character, and {@link entryBytes}.
 *
 * @param bytesOf the size of a value in bytes. It must not change while the value is kept
 */
export function byteBoundedCache<Key extends number | string, Value>(
  maxBytes: number,
  bytesOf: (value: Value) => number,
): ByteBoundedCache<Key, Value> {
  const entries = new Map<Key, { readonly value: Value; readonly bytes: number }>();
  let held = 0;
  const drop = (key: Key): void => {
    held -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  };
  return {
    get(key) {
      const found = entries.get(key);
      if (found === undefined) return undefined;
      // To the end: the first ones are forgotten first.
      entries.delete(key);
      entries.set(key, found);
      return found.value;
    },
    set(key, value) {
      drop(key);
      const bytes = entryBytes + (typeof key === "string" ? 2 * key.length : 0) + bytesOf(value);
      if (bytes > maxBytes) return;
      entries.set(key, { value, bytes });
      held += bytes;
      for (const oldest of entries.keys()) {
        if (held <= maxBytes) break;
        drop(oldest);
      }
    },
    delete: drop,
    get size() {
      return entries.size;
    },
  };
}
