import { jsonText } from "../json-tree.ts";
import { SopsFault } from "../sops-fault.ts";
import { pace, type Steps } from "../steps.ts";
import { Branch, type Item, isList, maxDepth, maxParts, SopsComment, SopsTime, type Value } from "../tree.ts";
import type { Store } from "./store.ts";

/** JSON with the order, the repeated keys and the integers of the text, which `JSON.parse` does not keep. */
export const jsonStore: Store = {
  metadata: "nested",
  *load(text) {
    const value = yield* new JsonReader(text).document();
    if (value instanceof Branch) return [value];
    throw new SopsFault("Could not unmarshal input data: SOPS only supports JSON files with a top-level object");
  },
  emit: ([first]) => `${printed(first ?? new Branch([]), "\n")}\n`,
};

/** Any bytes, under `data` in an envelope of JSON. */
export const binaryStore: Store = {
  metadata: "nested",
  load: (text) => jsonStore.load(text),
  emit(branches) {
    const data = branches.length === 1 ? branches[0]?.get("data") : undefined;
    if (typeof data === "string" || data instanceof Uint8Array) return data;
    if (data === undefined) throw new SopsFault("error emitting binary store: no binary data found in tree");
    throw new SopsFault("error emitting binary store: 'data' key in tree does not have a string value");
  },
};

const space = /[ \t\n\r]*/y;
const number = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
/** Strict enough for `JSON.parse` to read it. */
const string = /"(?:[^"\\]|\\.)*"/sy;
const word = /true|false|null/y;

class JsonReader {
  readonly #text: string;
  readonly #isLong = pace();
  #at = 0;
  #parts = 0;

  constructor(text: string) {
    this.#text = text;
  }

  *document(): Steps<Value> {
    const value = yield* this.#value(0);
    this.#take(space);
    if (this.#at < this.#text.length) throw this.#fault();
    return value;
  }

  *#value(depth: number): Steps<Value> {
    if (depth > maxDepth) throw new SopsFault(`nested deeper than ${maxDepth} levels`);
    if (++this.#parts > maxParts) throw new SopsFault(`more than ${maxParts} values: encrypt several smaller files`);
    if (this.#isLong()) yield;
    if (this.#skip("{")) return yield* this.#branch(depth);
    if (this.#skip("[")) return yield* this.#list(depth);
    return this.#scalar();
  }

  #scalar(): Value {
    const [digits, fraction, exponent] = this.#take(number) ?? [];
    if (digits !== undefined) return this.#number(digits, fraction !== undefined || exponent !== undefined);
    const [constant] = this.#take(word) ?? [];
    if (constant !== undefined) return constant === "null" ? null : constant === "true";
    return this.#string();
  }

  *#branch(depth: number): Steps<Branch> {
    const items: Item[] = [];
    if (this.#skip("}")) return new Branch(items);
    do {
      this.#take(space);
      const key = this.#string();
      if (!this.#skip(":")) throw this.#fault();
      items.push({ key, value: yield* this.#value(depth + 1) });
    } while (this.#skip(","));
    if (!this.#skip("}")) throw this.#fault();
    return new Branch(items);
  }

  *#list(depth: number): Steps<Value[]> {
    const items: Value[] = [];
    if (this.#skip("]")) return items;
    do {
      items.push(yield* this.#value(depth + 1));
    } while (this.#skip(","));
    if (!this.#skip("]")) throw this.#fault();
    return items;
  }

  #string(): string {
    const [quoted] = this.#take(string) ?? [];
    try {
      const text: unknown = JSON.parse(quoted ?? "");
      if (typeof text === "string") return text.toWellFormed();
    } catch {
      // Its message would show the text.
    }
    throw this.#fault();
  }

  /** An `int` of Go if it is a whole number that fits, a `float64` otherwise. */
  #number(digits: string, hasFraction: boolean): Value {
    if (!hasFraction && digits.length < 30) {
      const value = BigInt(digits);
      if (BigInt.asIntN(64, value) === value && digits !== "-0") return value;
    }
    const value = digits === "-0" && !hasFraction ? 0n : Number(digits);
    if (typeof value === "number" && !Number.isFinite(value)) throw this.#fault();
    return value;
  }

  #skip(character: string): boolean {
    this.#take(space);
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    this.#take(space);
    return true;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text) ?? undefined;
    if (match !== undefined) this.#at = pattern.lastIndex;
    return match;
  }

  #fault(): SopsFault {
    const line = this.#text.slice(0, this.#at).split("\n").length;
    return new SopsFault(`Could not unmarshal input data: line ${line} is not JSON`);
  }
}

/** As Go's `json.Marshal` and `json.Indent` print it, with tabs. */
function printed(value: Value, newline: string): string {
  if (value instanceof Branch) {
    const fields = value.items.flatMap(({ key, value: field }) =>
      typeof key === "string" ? [`${quoted(key)}: ${printed(field, `${newline}\t`)}`] : [],
    );
    return block("{", fields, "}", newline);
  }
  if (isList(value)) {
    const items = value.filter((item) => !(item instanceof SopsComment));
    return block(
      "[",
      items.map((item) => printed(item, `${newline}\t`)),
      "]",
      newline,
    );
  }
  return scalar(value);
}

function block(open: string, items: readonly string[], close: string, newline: string): string {
  return items.length === 0 ? open + close : `${open}${newline}\t${items.join(`,${newline}\t`)}${newline}${close}`;
}

function scalar(value: Exclude<Value, Branch | readonly Value[]>): string {
  if (typeof value === "string") return quoted(value);
  if (value instanceof SopsTime) return quoted(value.text);
  if (value instanceof Uint8Array) return quoted(jsonText(value));
  if (value instanceof SopsComment) throw new SopsFault("a decrypted value is a comment");
  if (typeof value === "number" && !Number.isFinite(value)) throw new SopsFault("json: unsupported value of a float");
  return Object.is(value, -0) ? "-0" : String(value);
}

/** Go also escapes what HTML reads. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
