const letter = /^\p{L}$/u;
const digit = /^\p{Nd}$/u;

/** go-yaml v2's order of mapping keys: letters after everything else, runs of digits by their number. */
export function compareGoKeys(a: string, b: string): number {
  if (a === b) return 0;
  return goKeyLess(Array.from(a), Array.from(b)) ? -1 : 1;
}

function goKeyLess(a: readonly string[], b: readonly string[]): boolean {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [left = "", right = ""] = [a[index], b[index]];
    if (left === right) continue;
    const [leftIsLetter, rightIsLetter] = [letter.test(left), letter.test(right)];
    if (leftIsLetter && rightIsLetter) return codePoint(left) < codePoint(right);
    if (leftIsLetter || rightIsLetter) return rightIsLetter;
    return digitsLess(a, b, index);
  }
  return a.length < b.length;
}

function digitsLess(a: readonly string[], b: readonly string[], index: number): boolean {
  const [left = "", right = ""] = [a[index], b[index]];
  // A zero inside a number counts as a digit of it, one that leads does not.
  const start = (left === "0" || right === "0") && insideNumber(a, index) ? 1n : 0n;
  const [leftNumber, leftEnd] = numberFrom(a, index, start);
  const [rightNumber, rightEnd] = numberFrom(b, index, start);
  if (leftNumber !== rightNumber) return leftNumber < rightNumber;
  if (leftEnd !== rightEnd) return leftEnd < rightEnd;
  return codePoint(left) < codePoint(right);
}

function insideNumber(text: readonly string[], index: number): boolean {
  for (let before = index - 1; before >= 0 && digit.test(text[before] ?? ""); before--) {
    if (text[before] !== "0") return true;
  }
  return false;
}

/** The number that the digits from `index` on make, and where they end. Wraps at 64 bits as Go's does. */
function numberFrom(text: readonly string[], index: number, start: bigint): [bigint, number] {
  let value = start;
  let end = index;
  for (; end < text.length && digit.test(text[end] ?? ""); end++) {
    value = BigInt.asIntN(64, value * 10n + BigInt(codePoint(text[end] ?? "0") - 48));
  }
  return [value, end];
}

function codePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}
