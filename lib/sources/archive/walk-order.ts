/**
 * Entries in the order of a depth-first walk that sorts the names of each folder by their bytes: `a`, `a/b`, `a.txt`. Two
 * archives of the same tree have the same order, whatever order the entries were found in.
 */
export function inWalkOrder<Entry extends { readonly path: string }>(entries: readonly Entry[]): Entry[] {
  return entries
    .map((entry) => ({ entry, key: Buffer.from(entry.path.replaceAll("/", "\0")) }))
    .toSorted((a, b) => Buffer.compare(a.key, b.key))
    .map(({ entry }) => entry);
}
