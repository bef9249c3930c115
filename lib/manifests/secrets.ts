import { hiddenValue } from "../core/known-words.ts";
import type { Manifest } from "../core/manifest.ts";
import type { ArtifactTree } from "./artifact-tree.ts";
import { bordersOf, extended } from "./borders.ts";
import type { BuildSpec } from "./build-spec.ts";

/** Masking shorter values would hide half of every word, and they are easy to guess. */
const minChars = 4;
/** The limit for a text that V8's own search looks for: with a longer one it may take as long as the product of both. */
const maxSoughtChars = 200;

/** Whose values are hidden: the Secrets among these manifests, and values of other Secrets that went into them. */
interface Hidden {
  readonly manifests: readonly Manifest[];
  readonly secrets: readonly string[];
}

/**
 * A text about a build, with `*****` in place of every value of its Secrets. A replacement can copy such a
 * value into any other object, and the refusal of that object may quote it: in clear, in base64, or escaped in quotes.
 *
 * Values of less than four characters are not masked, nor are parts of values, except the beginning of one right before `...`. Pure.
 */
export function maskSecrets(text: string, hidden: Hidden): string {
  return secretMask(hidden)(text);
}

/** {@link maskSecrets} for several texts: the forms of the values are made once. Pure. */
export function secretMask(hidden: Hidden): (text: string) => string {
  const all = valuesOf(hidden);
  return (text) => masked(text, all);
}

function masked(text: string, all: ReadonlySet<string>): string {
  const begun = beginningsIn(text);
  const values = new Set([...all].filter((value) => begun.has(value.slice(0, minChars))));
  const spans = [...values].flatMap((value) => spansOf(value, text));
  const cut = cutAt(text, values);
  if (cut !== undefined) spans.push(cut);
  spans.push(...shortCuts(text, values));
  let shown = "";
  let at = 0;
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    if (to <= at) continue;
    // Overlapping values share one mask.
    if (from >= at && !(from === at && at > 0)) shown += text.slice(at, from) + hiddenValue;
    at = to;
  }
  return shown + text.slice(at);
}

/** Every four characters of a text: a value that none of them begins is not in it. */
function beginningsIn(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (let at = 0; at + minChars <= text.length; at++) found.add(text.slice(at, at + minChars));
  return found;
}

/** A part of a text, in UTF-16 units. */
interface Span {
  readonly from: number;
  readonly to: number;
}

function spansOf(value: string, text: string): readonly Span[] {
  const begin = value.slice(0, maxSoughtChars);
  if (begin !== value) return text.includes(begin) ? comparedSpansOf(value, text) : [];
  const spans: Span[] = [];
  for (let from = text.indexOf(value); from >= 0; from = text.indexOf(value, from + value.length)) {
    spans.push({ from, to: from + value.length });
  }
  return spans;
}

/** {@link spansOf} in as many steps as both are long. */
function comparedSpansOf(value: string, text: string): readonly Span[] {
  const borders = bordersOf(value);
  const spans: Span[] = [];
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    matched = extended(value, borders, matched, text.charCodeAt(at));
    if (matched < value.length) continue;
    spans.push({ from: at + 1 - value.length, to: at + 1 });
    matched = 0;
  }
  return spans;
}

/** The beginning of a value at the end of a text that was cut, and therefore ends with `...`. */
function cutAt(text: string, values: ReadonlySet<string>): Span | undefined {
  if (!text.endsWith("...")) return undefined;
  const to = text.length - 3;
  const lengths = [...values].map((value) => {
    const isSought = text.includes(value.slice(0, minChars), to - value.length);
    return isSought ? lengthAtEnd(value.slice(0, to), text.slice(Math.max(0, to - value.length), to)) : 0;
  });
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  return longest < minChars ? undefined : { from: to - longest, to };
}

/** Characters that a program leaves of a value that it cuts inside a message: go-yaml leaves seven. */
const maxCutChars = 64;
/** Such places of one text that are looked at. */
const maxCuts = 1_000;

/** The beginnings of values before `...` inside a text, as go-yaml quotes what it cannot read. */
function shortCuts(text: string, values: ReadonlySet<string>): readonly Span[] {
  const sorted = [...values].toSorted();
  const spans: Span[] = [];
  let to = text.indexOf("...");
  for (let cuts = 0; to >= 0 && cuts < maxCuts; cuts++) {
    const longest = Math.min(to, maxCutChars);
    for (let length = minChars; length <= longest; length++) {
      if (beginsAny(text.slice(to - length, to), sorted)) spans.push({ from: to - length, to });
    }
    to = text.indexOf("...", to + 3);
  }
  return spans;
}

/** Whether one of these sorted values begins so. */
function beginsAny(beginning: string, sorted: readonly string[]): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? "") < beginning) low = middle + 1;
    else high = middle;
  }
  return sorted[low]?.startsWith(beginning) === true;
}

/** The length of the longest beginning of a value that a text ends with. */
function lengthAtEnd(value: string, text: string): number {
  const borders = bordersOf(value);
  let matched = 0;
  for (let at = 0; at < text.length; at++) matched = extended(value, borders, matched, text.charCodeAt(at));
  return matched;
}

function valuesOf({ manifests, secrets }: Hidden): ReadonlySet<string> {
  const encoded = manifests.filter(({ kind }) => kind === "Secret").flatMap(({ data }) => textsIn(data));
  const plain = manifests.filter(({ kind }) => kind === "Secret").flatMap(({ stringData }) => textsIn(stringData));
  const values = [
    ...encoded.flatMap((text) => [text, Buffer.from(text, "base64").toString()]),
    ...[...plain, ...secrets].flatMap((text) => [text, Buffer.from(text).toString("base64")]),
  ]
    .flatMap((text) => [text, text.trim()])
    .flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]);
  return new Set(values.filter((value) => value.length >= minChars));
}

/** All texts in the object. It may have any shape: the API server refuses those that a Secret cannot have. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number" || typeof value === "bigint") return [String(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Words of an object that is a Secret or generates one. */
const ofSecrets = ["Secret", "ecretGenerator"];
/** Words by which kustomize reads an object without printing it, or prints it as another kind. */
const thatHide = ["config.kubernetes.io/local-config", "$patch", "allowKindChange", "/kind"];

/**
 * Whether a build has a Secret, or may have data of a Secret that is not among the manifests: a replacement or a variable may
 * copy it from a Secret that the same files hide. Pure.
 */
export function carriesSecret(
  manifests: readonly Manifest[],
  { files }: Pick<ArtifactTree, "files">,
  { patches = [] }: Pick<BuildSpec, "patches">,
): boolean {
  if (manifests.some(({ kind }) => kind === "Secret")) return true;
  const sources = [Buffer.from(JSON.stringify(patches)), ...[...files.values()].map(viewOf)];
  const mention = (words: readonly string[]) => sources.some((source) => words.some((word) => source.includes(word)));
  return mention(thatHide) && mention(ofSecrets);
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
