const letter = /^\p{L}$/u;
const digit = /^\p{Nd}$/u;

/**
 * go-yaml v2's order of mapping keys: letters after everything else, runs of digits by their number. Over numbers with
 * letters after them it runs in circles (`a1b` < `a2` < `a10` < `a1b`); what Go prints then differs from run to run, ours does not.
 */
export function compareGoKeys(a: string, b: string): number {
  if (a === b) return 0;
  return goKeyLess(a, b) ? -1 : 1;
}

function goKeyLess(a: string, b: string): boolean {
  const length = Math.min(a.length, b.length);
  let index = 0;
  while (index < length && a.charCodeAt(index) === b.charCodeAt(index)) index++;
  if (index === length) return a.length < b.length;
  const [left, right] = [characterAt(a, index), characterAt(b, index)];
  const [leftIsLetter, rightIsLetter] = [letter.test(left), letter.test(right)];
  if (leftIsLetter && rightIsLetter) return codePoint(left) < codePoint(right);
  if (leftIsLetter || rightIsLetter) return rightIsLetter;
  return digitsLess(a, b, index, codePoint(left) < codePoint(right));
}

function digitsLess(a: string, b: string, index: number, otherwise: boolean): boolean {
  // A zero inside a number counts as a digit of it, one that leads does not.
  const hasZero = a[index] === "0" || b[index] === "0";
  const start = hasZero && insideNumber(a, index) ? 1n : 0n;
  const left = numberFrom(a, index, start);
  const right = numberFrom(b, index, start);
  if (left.value !== right.value) return left.value < right.value;
  if (left.length !== right.length) return left.length < right.length;
  return otherwise;
}

function insideNumber(text: string, index: number): boolean {
  for (let before = index - 1; before >= 0 && digit.test(text[before] ?? ""); before--) {
    if (text[before] !== "0") return true;
  }
  return false;
}

/** The number that the digits from `index` on make. Wraps at 64 bits as Go's does. */
function numberFrom(text: string, index: number, start: bigint): { value: bigint; length: number } {
  let value = start;
  let end = index;
  for (; digit.test(text[end] ?? ""); end++) {
    value = BigInt.asIntN(64, value * 10n + BigInt((text.codePointAt(end) ?? 48) - 48));
  }
  return { value, length: end - index };
}

/** The whole character at an index, also where the index is in the middle of a pair. */
function characterAt(text: string, index: number): string {
  const unit = text.charCodeAt(index);
  const at = unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index;
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function codePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}
