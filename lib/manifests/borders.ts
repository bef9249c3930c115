// The search of Knuth, Morris and Pratt (1977), in as many steps as text and pattern are long. V8's own takes the product for some.

/** For each beginning of the pattern, the length of the longest shorter beginning that it ends with. */
export function bordersOf(pattern: string): Int32Array {
  const borders = new Int32Array(pattern.length);
  let matched = 0;
  for (let at = 1; at < pattern.length; at++) {
    matched = extended(pattern, borders, matched, pattern.charCodeAt(at));
    borders[at] = matched;
  }
  return borders;
}

/**
 * How much of the pattern matches once a character follows what matched.
 *
 * @param borders of the pattern
 * @param matched length of the beginning of the pattern that matched so far
 * @param code of the character
 */
export function extended(pattern: string, borders: Int32Array, matched: number, code: number): number {
  let length = matched;
  while (length > 0 && pattern.charCodeAt(length) !== code) length = borders[length - 1] ?? 0;
  return pattern.charCodeAt(length) === code ? length + 1 : length;
}
