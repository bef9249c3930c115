import { isJsonList, isJsonObject, type Json } from "../core/json.ts";
import { compareGoKeys } from "./go-key-order.ts";
import { renderScalar } from "./go-yaml-string.ts";

/**
 * YAML as kustomize prints it: go-yaml v2's emitter over JSON values, keys in its natural order, sequences not indented.
 * Equal byte for byte, since Flux's history digest is taken over this text. Undefined for the few values whose rendering
 * only go-yaml should decide (odd floats, very long keys).
 */
export function goYamlText(document: { readonly [key: string]: Json }): string | undefined {
  const out: string[] = [];
  return writeMapping(out, document, 0, true) ? out.join("") : undefined;
}

type Mapping = { readonly [key: string]: Json };

/** `inline`: the first key follows on the line that is begun already. */
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
  value: null | boolean | number | string,
  indent: number,
  column: number,
): boolean {
  const text = typeof value === "string" ? renderScalar(value, { indent, column, isKey: false }) : renderOther(value);
  // A literal block ends its last line itself.
  return text !== undefined && push(out, `${before}${text}${text.endsWith("\n") ? "" : "\n"}`);
}

function renderOther(value: null | boolean | number): string | undefined {
  if (typeof value !== "number") return String(value);
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return String(value);
  // From six digits before the point on Go prints an exponent.
  return Math.abs(value) >= 0.001 && Math.abs(value) < 100_000 ? String(value) : undefined;
}

function push(out: string[], text: string): true {
  out.push(text);
  return true;
}
