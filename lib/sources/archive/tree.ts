/** One file or folder of an archive. Paths are relative, with `/` between names and without `./`; the root is not in it. */
export type TreeEntry =
  | { readonly type: "directory"; readonly path: string; readonly mode: number }
  | { readonly type: "file"; readonly path: string; readonly mode: number; readonly bytes: Uint8Array };

/**
 * Entries in the order of a walk that takes each folder's names by their bytes and goes into a folder at once: `a`, `a/b`,
 * `a.txt`. Two archives of the same tree have their entries in this order, whatever order they were found in.
 */
export function inWalkOrder<Entry extends { readonly path: string }>(entries: readonly Entry[]): Entry[] {
  return entries
    .map((entry) => ({ entry, key: Buffer.from(entry.path.replaceAll("/", "\0")) }))
    .toSorted((a, b) => Buffer.compare(a.key, b.key))
    .map(({ entry }) => entry);
}
