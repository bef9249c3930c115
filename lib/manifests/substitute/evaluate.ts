import { maxGlobBytes, maxGlobbedBytes, trimPrefix } from "./glob.ts";
import { occurrencesOf, replaceAt } from "./replace.ts";
import { maxBuildSteps, StepBudget } from "./step-budget.ts";
import { type Expression, parseTemplate, TemplateError, type TemplateNode } from "./template.ts";

/** The most that one object may be before and become, in bytes: the API server takes half of it. */
export const maxSubstitutedBytes = 3 * 1024 * 1024;

/** Steps of an expression beside those for the bytes that it reads. */
const stepsOfExpression = 20;
/** Steps for a byte whose character is taken apart from the others. */
const stepsOfCharacter = 8;

export interface SubstituteOptions {
  /** Whether a variable that is not there is an error. Default: it is. */
  readonly strict?: boolean;
  /** For all texts of a build. Default: one of its own, of {@link maxBuildSteps}. */
  readonly budget?: StepBudget;
}

/**
 * A text with its expressions replaced by the values of variables. A variable that is not there is an error, unless the
 * expression brings a default; without `strict` it is empty (Flux's gate `StrictPostBuildSubstitutions`).
 *
 * @throws TemplateError with upstream's message, without any value; OutOfSteps
 */
export function substituteText(
  source: string,
  variables: ReadonlyMap<string, string>,
  { strict = true, budget = new StepBudget(maxBuildSteps) }: SubstituteOptions = {},
): string {
  if (source.length > maxSubstitutedBytes) {
    throw new TemplateError(`the object is larger than ${maxSubstitutedBytes} bytes`, 0);
  }
  const evaluation = new Evaluation(variables, strict, budget);
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
  readonly #budget: StepBudget;
  readonly #values = new Map<string, string>();
  #length = 0;

  constructor(variables: ReadonlyMap<string, string>, strict: boolean, budget: StepBudget) {
    this.#variables = variables;
    this.#strict = strict;
    this.#budget = budget;
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
    this.#budget.spend(stepsOfExpression);
    const args = nodes.map((node) => this.node(node));
    const value = this.#variables.get(param);
    if (this.#strict && value === undefined && !defaults.has(operator)) {
      throw new TemplateError(`variable not set (strict mode): ${JSON.stringify(param)}`, at);
    }
    try {
      return apply(operator, this.#bytesOf(param), args, this.#budget);
    } catch (error) {
      if (error instanceof RangeError) throw new TemplateError(`${param}: ${error.message}`, at);
      throw error;
    }
  }

  /** Converted once, however many expressions name it. */
  #bytesOf(param: string): string {
    const known = this.#values.get(param);
    if (known !== undefined) return known;
    const bytes = bytesOf(this.#variables.get(param) ?? "");
    this.#budget.spend(bytes.length);
    this.#values.set(param, bytes);
    return bytes;
  }
}

function atOf(node: TemplateNode): number {
  return "text" in node ? 0 : node.at;
}

/** Throws a `RangeError` for what cannot be done. */
function apply(operator: string, value: string, args: readonly string[], budget: StepBudget): string {
  const [first = "", second = ""] = args;
  switch (operator) {
    case ",":
      return inCase(value, firstRune(lower), budget);
    case ",,":
      return inCase(value, eachRune(lower), budget);
    case "^":
      return inCase(value, firstRune(upper), budget);
    case "^^":
      return inCase(value, eachRune(upper), budget);
    case "#":
      return args.length === 0 ? String(value.length) : trimmed(value, first, "shortest", "prefix", budget);
    case "##":
      return trimmed(value, first, "longest", "prefix", budget);
    case "%":
      return trimmed(value, first, "shortest", "suffix", budget);
    case "%%":
      return trimmed(value, first, "longest", "suffix", budget);
    case ":":
      return substring(value, args);
    case "/":
      return replaced(value, first === "" ? [0] : occurrencesOf(first, value, 1, budget), first, second, budget);
    case "//":
      return replaced(value, placesOf(first, value, budget), first, second, budget);
    case "/#":
      return args.length === 2 && value.startsWith(first) ? replaced(value, [0], first, second, budget) : value;
    case "/%":
      return args.length === 2 && value.endsWith(first)
        ? replaced(value, [value.length - first.length], first, second, budget)
        : value;
    default:
      return value === "" ? args.join("") : value;
  }
}

function replaced(value: string, places: readonly number[], pattern: string, by: string, budget: StepBudget): string {
  return replaceAt(places, value, { pattern, by, maxLength: maxSubstitutedBytes }, budget);
}

/** Go puts the replacement between code points where the pattern is empty. */
function placesOf(pattern: string, value: string, budget: StepBudget): readonly number[] {
  if (pattern !== "") return occurrencesOf(pattern, value, Infinity, budget);
  budget.spend(value.length * stepsOfCharacter);
  const places = [0];
  for (const rune of textOf(value)) places.push((places.at(-1) ?? 0) + Buffer.byteLength(rune));
  return places;
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

function trimmed(
  value: string,
  pattern: string,
  which: "shortest" | "longest",
  end: "prefix" | "suffix",
  budget: StepBudget,
): string {
  if (value.length > maxGlobbedBytes || pattern.length > maxGlobBytes) {
    throw new RangeError(
      `a pattern of at most ${maxGlobBytes} bytes can be removed from a value of at most ${maxGlobbedBytes} bytes`,
    );
  }
  if (end === "prefix") return trimPrefix(value, pattern, which, budget);
  budget.spend((value.length + pattern.length) * stepsOfCharacter);
  return reversed(trimPrefix(reversed(value), reversed(pattern), which, budget));
}

/** By code points, the pattern included: upstream reads a class backwards too. */
function reversed(bytes: string): string {
  return bytesOf(Array.from(textOf(bytes)).toReversed().join(""));
}

function inCase(bytes: string, change: (text: string) => string, budget: StepBudget): string {
  budget.spend(bytes.length * stepsOfCharacter);
  return bytesOf(change(textOf(bytes)));
}

function firstRune(change: (rune: string) => string): (text: string) => string {
  return (text) => {
    const [first = ""] = text;
    return change(first) + text.slice(first.length);
  };
}

function eachRune(change: (rune: string) => string): (text: string) => string {
  return (text) => Array.from(text, change).join("");
}

/** Go maps one code point to one. */
function upper(rune: string): string {
  const mapped = rune.toUpperCase();
  return mapped.length === rune.length || Array.from(mapped).length === 1 ? mapped : rune;
}

/** Only U+0130 has more than one, of which Go takes the first. */
function lower(rune: string): string {
  const mapped = rune.toLowerCase();
  return mapped.length === rune.length ? mapped : (Array.from(mapped)[0] ?? rune);
}

function bytesOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}

function textOf(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString();
}
