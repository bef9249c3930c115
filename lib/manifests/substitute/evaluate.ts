import { maxGlobBytes, maxGlobbedBytes, trimPrefix } from "./glob.ts";
import { type Expression, parseTemplate, TemplateError, type TemplateNode } from "./template.ts";

/** The most that one object may become, in bytes: the API server takes half of it. */
export const maxSubstitutedBytes = 3 * 1024 * 1024;

/**
 * A text with its expressions replaced by the values of variables. A variable that is not there is an error, unless the
 * expression brings a default; without `strict` it is empty (Flux's gate `StrictPostBuildSubstitutions`).
 *
 * @throws TemplateError with upstream's message, without any value
 */
export function substituteText(
  source: string,
  variables: ReadonlyMap<string, string>,
  { strict = true }: { readonly strict?: boolean } = {},
): string {
  const evaluation = new Evaluation(variables, strict);
  const bytes = parseTemplate(source)
    .map((node) => evaluation.node(node))
    .join("");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes, "latin1"));
  } catch (error) {
    throw new TemplateError("a part of a value begins or ends inside of a character", 0, { cause: error });
  }
}

/** Operators whose expression brings a value of its own for a variable that is not there. */
const defaults: ReadonlySet<string> = new Set(["=", ":=", ":-", ":?", ":+"]);

/** Values are texts of bytes, one character each (`latin1`): lengths and offsets count bytes, as in Go. */
class Evaluation {
  readonly #variables: ReadonlyMap<string, string>;
  readonly #strict: boolean;
  #length = 0;

  constructor(variables: ReadonlyMap<string, string>, strict: boolean) {
    this.#variables = variables;
    this.#strict = strict;
  }

  node(node: TemplateNode): string {
    const bytes = "text" in node ? bytesOf(node.text) : this.#expression(node);
    this.#length += bytes.length;
    // What is inside of an expression counts as well, which bounds the work.
    if (this.#length > maxSubstitutedBytes) {
      throw new TemplateError(`the object becomes larger than ${maxSubstitutedBytes} bytes`, atOf(node));
    }
    return bytes;
  }

  #expression({ param, operator, args: nodes, at }: Expression): string {
    const args = nodes.map((node) => this.node(node));
    const value = this.#variables.get(param);
    if (this.#strict && value === undefined && !defaults.has(operator)) {
      throw new TemplateError(`variable not set (strict mode): ${JSON.stringify(param)}`, at);
    }
    try {
      return apply(operator, bytesOf(value ?? ""), args);
    } catch (error) {
      if (error instanceof RangeError) throw new TemplateError(`${param}: ${error.message}`, at);
      throw error;
    }
  }
}

function atOf(node: TemplateNode): number {
  return "text" in node ? 0 : node.at;
}

/** Throws a `RangeError` for what cannot be done. */
function apply(operator: string, value: string, args: readonly string[]): string {
  const [first = "", second = ""] = args;
  switch (operator) {
    case ",":
      return inCase(value, (text) => firstRune(text, lower));
    case ",,":
      return inCase(value, (text) => eachRune(text, lower));
    case "^":
      return inCase(value, (text) => firstRune(text, upper));
    case "^^":
      return inCase(value, (text) => eachRune(text, upper));
    case "#":
      return args.length === 0 ? String(value.length) : trimmed(value, first, "shortest", "prefix");
    case "##":
      return trimmed(value, first, "longest", "prefix");
    case "%":
      return trimmed(value, first, "shortest", "suffix");
    case "%%":
      return trimmed(value, first, "longest", "suffix");
    case ":":
      return substring(value, args);
    case "/":
      return value.replace(first, () => second);
    case "//":
      return replaceAll(value, first, second);
    case "/#":
      return args.length === 2 && value.startsWith(first) ? value.replace(first, () => second) : value;
    case "/%":
      return args.length === 2 && value.endsWith(first) ? value.slice(0, value.length - first.length) + second : value;
    default:
      return value === "" ? args.join("") : value;
  }
}

/** Go puts the replacement between code points where the pattern is empty. */
function replaceAll(value: string, pattern: string, replacement: string): string {
  if (pattern !== "") return value.replaceAll(pattern, () => replacement);
  const runes = Array.from(textOf(value), bytesOf);
  return [replacement, ...runes.flatMap((rune) => [rune, replacement])].join("");
}

function substring(value: string, [offset = "", length]: readonly string[]): string {
  const at = goInteger(offset);
  if (at === undefined) return value;
  const from = at < 0 ? Math.max(0, value.length + at) : at;
  if (length === undefined) return value.slice(from);
  const count = goInteger(length);
  if (count === undefined) return value;
  if (from + count >= value.length) return value.slice(from);
  if (count < 0) throw new RangeError("the length of a part must not be negative");
  return value.slice(from, from + count);
}

function goInteger(text: string): number | undefined {
  return /^[-+]?\d+$/.test(text) && Math.abs(Number(text)) < 2 ** 63 ? Number(text) : undefined;
}

function trimmed(value: string, pattern: string, which: "shortest" | "longest", end: "prefix" | "suffix"): string {
  if (value.length > maxGlobbedBytes || pattern.length > maxGlobBytes) {
    throw new RangeError(
      `a pattern of at most ${maxGlobBytes} bytes is taken off a value of at most ${maxGlobbedBytes} bytes`,
    );
  }
  if (end === "prefix") return trimPrefix(value, pattern, which);
  return reversed(trimPrefix(reversed(value), reversed(pattern), which));
}

/** By code points, the pattern included: upstream reads a class backwards too. */
function reversed(bytes: string): string {
  return bytesOf(Array.from(textOf(bytes)).toReversed().join(""));
}

function inCase(bytes: string, change: (text: string) => string): string {
  return bytesOf(change(textOf(bytes)));
}

function firstRune(text: string, change: (rune: string) => string): string {
  const [first = "", ...rest] = Array.from(text);
  return change(first) + rest.join("");
}

function eachRune(text: string, change: (rune: string) => string): string {
  return Array.from(text, change).join("");
}

/** Go maps one code point to one. */
function upper(rune: string): string {
  const mapped = rune.toUpperCase();
  return Array.from(mapped).length === 1 ? mapped : rune;
}

/** Only U+0130 has more than one, of which Go takes the first. */
function lower(rune: string): string {
  return Array.from(rune.toLowerCase())[0] ?? rune;
}

function bytesOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}

function textOf(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString();
}
