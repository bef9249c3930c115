import { isJsonList, isJsonObject, type Json } from "../../core/json.ts";
import { renderScalar } from "./emit-string.ts";
import { numberText } from "./number.ts";

/**
 * YAML as kustomize prints it: go-yaml v2's emitter over JSON values, keys in its natural order, sequences not indented.
 * Equal byte for byte, since the digest in Flux's history is that of this text. Undefined if a value is one that only go-yaml
 * can print (very long keys and strings).
 */
export function goYamlText(document: { readonly [key: string]: Json }): string | undefined {
  const out: string[] = [];
  return writeMapping(out, document, 0, true) ? out.join("") : undefined;
}

type Mapping = { readonly [key: string]: Json };

/** `inline`: the first key continues the current line. */
function writeMapping(out: string[], mapping: Mapping, indent: number, inline: boolean): boolean {
  const margin = " ".repeat(indent);
  let first = inline;
  for (const key of Object.keys(mapping).toSorted(compareGoKeys)) {
    const label = renderScalar(key, { indent, column: indent, isKey: true });
    if (label === undefined) return false;
    out.push(first ? "" : margin, label, ":");
    first = false;
    if (!writeValue(out, mapping[key] ?? null, indent, indent + Array.from(label).length + 2)) return false;
  }
  return true;
}

/** The value after `key:`; `column` is where a scalar would start. */
function writeValue(out: string[], value: Json, indent: number, column: number): boolean {
  if (isJsonList(value)) {
    if (value.length === 0) return push(out, " []\n");
    out.push("\n");
    return writeSequence(out, value, indent, false);
  }
  if (isJsonObject(value)) {
    if (Object.keys(value).length === 0) return push(out, " {}\n");
    out.push("\n");
    return writeMapping(out, value, indent + 2, false);
  }
  return writeScalar(out, " ", value, indent, column);
}

function writeSequence(out: string[], items: readonly Json[], indent: number, inline: boolean): boolean {
  const margin = " ".repeat(indent);
  let first = inline;
  for (const item of items) {
    out.push(first ? "- " : `${margin}- `);
    first = false;
    if (!writeItem(out, item, indent)) return false;
  }
  return true;
}

function writeItem(out: string[], item: Json, indent: number): boolean {
  if (isJsonList(item)) return item.length === 0 ? push(out, "[]\n") : writeSequence(out, item, indent + 2, true);
  if (isJsonObject(item)) {
    return Object.keys(item).length === 0 ? push(out, "{}\n") : writeMapping(out, item, indent + 2, true);
  }
  return writeScalar(out, "", item, indent, indent + 2);
}

function writeScalar(
  out: string[],
  before: string,
  value: null | boolean | number | bigint | string,
  indent: number,
  column: number,
): boolean {
  const text = typeof value === "string" ? renderScalar(value, { indent, column, isKey: false }) : renderOther(value);
  // A literal block ends its last line itself.
  return text !== undefined && push(out, `${before}${text}${text.endsWith("\n") ? "" : "\n"}`);
}

function renderOther(value: null | boolean | number | bigint): string {
  return typeof value === "number" || typeof value === "bigint" ? numberText(value) : String(value);
}

function push(out: string[], text: string): true {
  out.push(text);
  return true;
}

const letter = /^\p{L}$/u;
const digit = /^\p{Nd}$/u;

/**
 * go-yaml v2's order of mapping keys: letters after everything else, digits by their number. For numbers that are followed by
 * letters this order is circular (`a1b` < `a2` < `a10` < `a1b`): then Go's output differs from run to run, ours does not.
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
  // A zero inside a number counts as one of its digits, a leading zero does not.
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

/** The number that begins at `index`. Wraps at 64 bits, as in Go. */
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
