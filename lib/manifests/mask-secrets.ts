import { hiddenValue } from "../core/known-words.ts";
import type { Manifest } from "../core/manifest.ts";

/** Shorter values would hide half of every word, and are guessed soon. */
const minChars = 4;

/**
 * A text about these manifests without the values of the Secrets among them, `*****` in their place. A replacement can put
 * such a value into any other object, and what refuses that object quotes it: in clear, in base64, or escaped in quotes.
 *
 * Values of less than four characters stay, and so do parts of values, except at the end of a text that was cut. Pure.
 */
export function maskSecrets(text: string, manifests: readonly Manifest[]): string {
  const values = valuesOf(manifests);
  const spans = [...values].flatMap((value) => spansOf(value, text));
  const cut = cutAt(text, values);
  if (cut !== undefined) spans.push(cut);
  let masked = "";
  let at = 0;
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    if (to <= at) continue;
    // Values that overlap have one mask.
    if (from >= at && !(from === at && at > 0)) masked += text.slice(at, from) + hiddenValue;
    at = to;
  }
  return masked + text.slice(at);
}

/** Of a text, in UTF-16 units. */
interface Span {
  readonly from: number;
  readonly to: number;
}

function spansOf(value: string, text: string): readonly Span[] {
  const spans: Span[] = [];
  for (let from = text.indexOf(value); from >= 0; from = text.indexOf(value, from + value.length)) {
    spans.push({ from, to: from + value.length });
  }
  return spans;
}

/** The beginning of a value at the end of a text that was cut there, and so ends with `...`. */
function cutAt(text: string, values: ReadonlySet<string>): Span | undefined {
  if (!text.endsWith("...")) return undefined;
  const to = text.length - 3;
  const begins = [...values].flatMap((value) => {
    const shortest = value.slice(0, minChars);
    for (let from = text.indexOf(shortest, to - value.length); from >= 0; from = text.indexOf(shortest, from + 1)) {
      if (from + minChars <= to && value.startsWith(text.slice(from, to))) return [from];
    }
    return [];
  });
  return begins.length === 0 ? undefined : { from: Math.min(...begins), to };
}

function valuesOf(manifests: readonly Manifest[]): ReadonlySet<string> {
  const values = manifests
    .filter(({ kind }) => kind === "Secret")
    .flatMap(({ data, stringData }) => [
      ...textsIn(data).flatMap((text) => [text, Buffer.from(text, "base64").toString()]),
      ...textsIn(stringData).flatMap((text) => [text, Buffer.from(text).toString("base64")]),
    ])
    .flatMap((text) => [text, text.trim()])
    .flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]);
  return new Set(values.filter((value) => value.length >= minChars));
}

/** Whatever shape they were given: what is wrong with that is the API server's to say. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
