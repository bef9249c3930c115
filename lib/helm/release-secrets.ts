import { cutMessage } from "../core/cut-text.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject, parseJson } from "../core/json.ts";
import { hiddenValue } from "../core/known-words.ts";
import type { Manifest } from "../core/manifest.ts";
import { secretMask } from "../manifests/secrets.ts";
import type { ValuesReference } from "./read-values.ts";
import { valueLeaves } from "./value-origins.ts";
import { isElsewhere, type NamedLayer } from "./values-layers.ts";

/** What a message about a release may quote, and where each value comes from. */
export interface QuotedByRelease {
  /** The texts of `spec.valuesFrom` in their order, each with its reference. */
  readonly texts: readonly { readonly text: string; readonly reference: ValuesReference }[];
  /** The values of these texts, and the inline ones; undefined if they cannot be composed. */
  readonly layers: readonly NamedLayer[] | undefined;
  /** The values of stored revisions. What `valuesFrom` had then is not known: a value at a path that is not set now counts as secret. */
  readonly stored: readonly JsonObject[];
  /** Objects that may be Secrets: those that the chart renders, and those that its templates have looked up. */
  readonly objects: readonly Manifest[];
}

/** Texts of Secrets that are searched for in a message. */
export const maxSecretTexts = 20_000;
/** Their characters in total. */
export const maxSecretTextChars = 4 * 1024 * 1024;

const notShown =
  "the message is not shown, because the Secrets of this release hold too many values to search it for them";

/**
 * Returns a function that replaces the values of Secrets in a text by `*****`: as they are, quoted for Go, JSON or YAML, in base64, and cut
 * before `...`. Values shorter than four characters, `true`, `false` and `null` stay: they are easy to guess, and would hide most texts.
 */
export function hidingSecrets(quoted: QuotedByRelease): Hide {
  const texts = [...new Set(secretTextsOf(quoted))].filter((text) => text.length >= minChars && !plain.has(text));
  const manifests = quoted.objects.filter(({ kind }) => kind === "Secret");
  if (texts.length === 0 && manifests.length === 0) return hiding((text) => text);
  const sought = [...texts, ...manifests.flatMap(({ data, stringData }) => textsIn([data, stringData]))];
  const chars = sought.reduce((sum, { length }) => sum + length, 0);
  if (sought.length > maxSecretTexts || chars > maxSecretTextChars) return hiding(() => notShown);
  const mask = secretMask({ manifests, secrets: texts.flatMap(formsOf) });
  return hiding(mask);
}

/** Hides the values of Secrets in a message, which is cut at the length of one. */
export interface Hide {
  (text: string): string;
  /** The same for a value, which may be longer. */
  readonly whole: (text: string) => string;
}

function hiding(mask: (text: string) => string): Hide {
  return Object.assign((text: string) => mask(cutMessage(text)), { whole: mask });
}

/** As the mask itself: nothing shorter is hidden. */
const minChars = 4;
const plain: ReadonlySet<string> = new Set(["true", "false", "null"]);

/** The same for a value of an object: each text and number in it. Pure. */
export function withoutSecrets(value: Json, hide: (text: string) => string): Json {
  if (typeof value === "string") return hide(value);
  if (typeof value === "number" || typeof value === "bigint") {
    return hide(String(value)) === String(value) ? value : hiddenValue;
  }
  if (isJsonList(value)) return value.map((item) => withoutSecrets(item, hide));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutSecrets(item, hide)]));
}

function secretTextsOf({ layers, stored, texts }: QuotedByRelease): readonly string[] {
  const ofSecrets = texts.filter(({ reference }) => reference.kind === "Secret");
  const own =
    layers === undefined
      ? ofSecrets.flatMap(({ text }) => text.split("\n").flatMap(valuesInLine))
      : layers.flatMap((layer) => (isSecret(layer) ? textsOfLayer(layer) : []));
  // Text at a path is a value; text without one is YAML, whose lines would hide the names of fields.
  const whole = ofSecrets.flatMap(({ reference, text }) => (reference.targetPath === undefined ? [] : [text.trim()]));
  return [...own, ...whole, ...stored.flatMap((values) => storedTexts(values, layers ?? []))];
}

function isSecret({ reference }: NamedLayer): boolean {
  return reference?.kind === "Secret";
}

function textsOfLayer({ reference, values }: NamedLayer): readonly string[] {
  const leaves = valueLeaves(values, []);
  // The text of a Secret may name keys, which are then as secret as the text.
  const paths =
    reference === undefined
      ? []
      : leaves.flatMap(({ path }) => (isElsewhere(path, reference) ? path.split(/[.[\]]+/) : []));
  return [...paths, ...leaves.flatMap(({ value }) => textsOfLeaf(value))];
}

function storedTexts(values: JsonObject, layers: readonly NamedLayer[]): readonly string[] {
  return valueLeaves(values, layers).flatMap((leaf) => {
    const setters = leaf.layers.flatMap((place) => layers[place] ?? []);
    return setters.length === 0 || setters.some(isSecret) ? textsOfLeaf(leaf.value) : [];
  });
}

/** A value, each of its lines, and the parts of what it may be itself: a JSON text, or a URL with credentials. */
function textsOfLeaf(value: Json): readonly string[] {
  if (typeof value === "number" || typeof value === "bigint") return [String(value), ofGo(Number(value))];
  if (typeof value !== "string") return [];
  const text = value.trim();
  return [value, text, ...linesOf(text), ...inJson(text), ...credentialsIn(text)];
}

/** As Go prints a number of JSON: `1.234567e+06`. */
function ofGo(value: number): string {
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

function linesOf(text: string): readonly string[] {
  return text.includes("\n") ? text.split("\n").map((line) => line.trim()) : [];
}

/** The values in a line of YAML or JSON that cannot be composed: of the line as one entry, and of the entries of maps and lists in it. */
function valuesInLine(line: string): readonly string[] {
  return [line, ...line.split(/[,{}[\]]/)].map((entry) => {
    const written = entry.trim().replace(/^(?:- +)?(?:(?:"[^"]*" *:|'[^']*' *:|[^\s:"']+:(?= |$)) *)?/, "");
    return written.replaceAll(/^["']|["']$/g, "");
  });
}

function inJson(text: string): readonly string[] {
  if (!/^[{[]/.test(text)) return [];
  try {
    return textsIn(parseJson(text));
  } catch {
    // It only looks like JSON, or exceeds the limits of JSON.
    return [];
  }
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number" || typeof value === "bigint") return [String(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function credentialsIn(text: string): readonly string[] {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return [];
  const { password, username } = new URL(text);
  return [username, password].flatMap((part) => [part, unescaped(part)]);
}

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A percent sign that escapes nothing.
    return part;
  }
}

/** How a message may quote a text; the mask adds base64 and the quotes of JSON. */
function formsOf(text: string): readonly string[] {
  const inUrl = encodeURIComponent(text.toWellFormed());
  const forms = [text, goQuoted(text), text.replaceAll("'", "''"), inUrl, goQuery(inUrl)];
  return [...new Set([...forms, text.replaceAll(/[<>&]/g, escapedHtml), ...withinBase64(text)])];
}

/** As Go's `url.QueryEscape` has it, which `urlquery` in a template is. */
function goQuery(inUrl: string): string {
  return inUrl
    .replaceAll("%20", "+")
    .replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The inside of what Go's `%q` prints. */
function goQuoted(text: string): string {
  const short: Readonly<Record<string, string>> = { "\\u0007": "\\a", "\\u000b": "\\v" };
  return JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/\\u00(?:0[0-9a-f]|1[0-9a-f]|7f)/g, (code) => short[code] ?? `\\x${code.slice(4)}`);
}

/** As Go's JSON escapes them. */
function escapedHtml(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The characters that a text gives inside the base64 of a longer one, such as `user:password`: they depend on where it begins there. */
function withinBase64(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
}
