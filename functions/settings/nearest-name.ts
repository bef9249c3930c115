/**
 * The name that is the least edits away, where a typing error can be meant: at most a third of its letters.
 *
 * @param spelled how a name is spelled for the comparison
 */
export function nearestName(
  key: string,
  names: readonly string[],
  spelled: (name: string) => string = (name) => name,
): string | undefined {
  const [best] = names
    .map((name) => ({ name, distance: editDistance(key, spelled(name)) }))
    .filter(({ name, distance }) => distance <= name.length / 3)
    .toSorted((a, b) => a.distance - b.distance);
  return best?.name;
}

/** Levenshtein's distance; what is much longer than any name is far from all of them. */
function editDistance(a: string, b: string): number {
  if (a.length > 2 * b.length) return a.length;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of Array.from(a).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(b).entries()) {
      const swap = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(swap, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
