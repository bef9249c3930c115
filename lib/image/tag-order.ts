/** Compares two texts by their bytes in UTF-8, as Go does. */
export function compareTags(a: string, b: string): number {
  if (a === b) return 0;
  // The order of UTF-16 differs where half a surrogate pair meets a character above it.
  const isPlain = !surrogate.test(a) && !surrogate.test(b);
  if (isPlain) return a < b ? -1 : 1;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

const surrogate = /[\ud800-\udfff]/;
