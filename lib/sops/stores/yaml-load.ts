import { isUtf8 } from "node:buffer";
import {
  COLLECTION_STYLE,
  EVENT_ID,
  type Event,
  getScalarValue,
  type MappingEvent,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  type SequenceEvent,
  YAMLException,
} from "js-yaml";
import { SopsFault } from "../sops-fault.ts";
import { pace, type Steps } from "../steps.ts";
import { Branch, type Item, maxDepth, maxParts, OddKey, type Scalar, SopsTime, type Value } from "../tree.ts";
import { YamlComments } from "./yaml-comments.ts";
import { YamlLines } from "./yaml-lines.ts";
import { resolvePlain } from "./yaml-scalar.ts";

/** What all aliases of a file may add to it. Without a limit a few lines could fill the memory. */
export const maxAliasedBytes = 16 * 1024 * 1024;
/** Characters of one file that may start a value. They are counted before it is parsed, since nothing else runs during that. */
export const maxIndicators = 500_000;
/** Parsing a file of this length takes more than a few milliseconds. */
const longChars = 100_000;
/** Memory that a value takes besides its text, at least. */
const bytesPerValue = 32;

/** All documents of a text. Throws a {@link SopsFault} that shows nothing of it. */
export function* loadYaml(text: string): Steps<Branch[]> {
  const reader = new YamlReader(text.replace(/^\ufeff/, ""));
  // Parsing has been one step.
  if (text.length > longChars) yield;
  return yield* reader.documents();
}

/** Every value starts behind one of these, or at the start of a line. */
const indicators = new Set<number>(Buffer.from("[{,:?-&!*\n\r"));

function refuseManyIndicators(text: string): void {
  if (text.length <= maxIndicators) return;
  let count = 0;
  for (let at = 0; at < text.length; at++) if (indicators.has(text.charCodeAt(at))) count++;
  if (count > maxIndicators) throw tooMany("line breaks and characters that may start a value", maxIndicators);
}

function tooMany(what: string, limit: number): SopsFault {
  return new SopsFault(`Error unmarshaling input YAML: more than ${limit} ${what}: encrypt several smaller files`);
}

function parse(text: string): Event[] {
  refuseManyIndicators(text);
  try {
    return parseEvents(text, { maxDepth });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    // js-yaml's reason may quote the text.
    const why = error.reason.includes("nesting") ? `nested deeper than ${maxDepth} levels` : "it is not YAML";
    throw new SopsFault(`Error unmarshaling input YAML: line ${(error.mark?.line ?? 0) + 1}: ${why}`);
  }
}

class YamlReader {
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #lines: YamlLines;
  readonly #comments: YamlComments;
  readonly #anchors = new Map<string, { readonly value: Value; readonly bytes: number }>();
  readonly #isLong = pace();
  #next = 0;
  /** Where the last token ended. */
  #end = 0;
  /** Where the `---` is that was found last. */
  #marker = -1;
  /** What has been read, aliases expanded. */
  #bytes = 0;
  #aliasedBytes = 0;

  constructor(text: string) {
    this.#text = text;
    this.#events = parse(text);
    this.#lines = new YamlLines(text);
    this.#comments = new YamlComments(text, this.#lines, this.#events);
    if (this.#events.length + this.#comments.count > maxParts) throw tooMany("values and comments", maxParts);
  }

  *documents(): Steps<Branch[]> {
    const branches: Branch[] = [];
    while (this.#next < this.#events.length) branches.push(yield* this.#document());
    return branches;
  }

  *#document(): Steps<Branch> {
    if (this.#isLong()) yield;
    this.#take();
    this.#anchors.clear();
    const event = this.#peek();
    if (event?.type === EVENT_ID.MAPPING) {
      this.#next++;
      const items = yield* this.#mapping(event, -1);
      this.#take();
      return new Branch([...items, ...this.#comments.before(this.#endOfDocument()).map(commentItem)]);
    }
    const items = this.#comments.before(this.#endOfDocument()).map(commentItem);
    if (event?.type === EVENT_ID.SEQUENCE) throw this.#fault("YAML documents that are sequences are not supported");
    if (event !== undefined && event.type !== EVENT_ID.POP && (yield* this.#value(event, -1)) !== null) {
      throw this.#fault("YAML documents that are values are not supported");
    }
    this.#take();
    return new Branch(items);
  }

  /** Comments behind the `---` of the next document are of that one. */
  #endOfDocument(): number {
    if (this.#next >= this.#events.length - 1) return this.#text.length;
    if (this.#marker < this.#end) {
      const marker = /^---/gm;
      marker.lastIndex = this.#end;
      this.#marker = marker.exec(this.#text)?.index ?? this.#text.length;
    }
    return this.#marker;
  }

  #peek(): Event | undefined {
    return this.#events[this.#next];
  }

  #take(): Event | undefined {
    return this.#events[this.#next++];
  }

  #fault(why: string): SopsFault {
    const line = this.#text.slice(0, this.#end).split("\n").length;
    return new SopsFault(`Error unmarshaling input YAML: line ${line}: ${why}`);
  }

  *#mapping(event: MappingEvent, parentColumn: number): Steps<Item[]> {
    const column = this.#columnOf(event.start);
    const items: Item[] = [];
    const seen = new Set<string>();
    for (let key = this.#take(); key !== undefined && key.type !== EVENT_ID.POP; key = this.#take()) {
      if (this.#isLong()) yield;
      for (const comment of this.#comments.before(this.#startOf(key))) items.push(commentItem(comment));
      const name = this.#key(key, seen);
      const value = this.#take();
      if (value === undefined) throw this.#fault("a key has no value");
      for (const item of yield* this.#entry(name, value, column)) items.push(item);
    }
    return [...items, ...this.#endOfBlock(event, column, parentColumn).map(commentItem)];
  }

  /** An entry, comments in front of it: those behind a key and, inline, those behind a value. */
  *#entry(key: Item["key"], event: Event, column: number): Steps<Item[]> {
    if (event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE) {
      const isBlock = event.style === COLLECTION_STYLE.BLOCK;
      const behind = isBlock ? this.#comments.behind(this.#end, false) : [];
      return [...behind.map(commentItem), { key, value: yield* this.#value(event, column) }];
    }
    const header = isBlockText(event) ? this.#comments.behind(this.#end, true) : [];
    const before = this.#comments.before(this.#startOf(event));
    const value = this.#leaf(event);
    const behind = isBlockText(event) ? [] : this.#comments.behind(this.#end, true);
    return [...[...header, ...before, ...behind].map(commentItem), { key, value }];
  }

  #key(event: Event, seen: Set<string>): Item["key"] {
    if (event.type !== EVENT_ID.SCALAR) throw this.#fault("a key is not a scalar");
    const value = this.#leaf(event);
    const text = typeof value === "string" ? value : getScalarValue(this.#text, event);
    if (seen.has(text)) throw this.#fault("a key of a mapping is already defined");
    seen.add(text);
    return typeof value === "string" ? value : new OddKey(goType(value), text);
  }

  *#sequence(event: SequenceEvent, parentColumn: number): Steps<Value[]> {
    const column = this.#columnOf(event.start);
    const items: Value[] = [];
    for (let item = this.#take(); item !== undefined && item.type !== EVENT_ID.POP; item = this.#take()) {
      if (this.#isLong()) yield;
      for (const comment of this.#comments.before(this.#startOf(item))) items.push(comment);
      const isBlock = item.type === EVENT_ID.MAPPING || item.type === EVENT_ID.SEQUENCE;
      const value = isBlock ? yield* this.#value(item, column) : this.#leaf(item);
      if (!isBlock && !isBlockText(item)) items.push(...this.#comments.behind(this.#end, true));
      items.push(value);
    }
    return [...items, ...this.#endOfBlock(event, column, parentColumn)];
  }

  #endOfBlock(
    event: MappingEvent | SequenceEvent,
    column: number,
    parentColumn: number,
  ): ReturnType<YamlComments["before"]> {
    if (event.style === COLLECTION_STYLE.FLOW || column <= parentColumn) return [];
    return this.#comments.atEndOfBlock(column, this.#startOfNext());
  }

  *#value(event: Event, column: number): Steps<Value> {
    if (event.type !== EVENT_ID.MAPPING && event.type !== EVENT_ID.SEQUENCE) return this.#leaf(event);
    const before = this.#bytes;
    this.#bytes += bytesPerValue;
    const value =
      event.type === EVENT_ID.MAPPING
        ? new Branch(yield* this.#mapping(event, column))
        : yield* this.#sequence(event, column);
    this.#keep(event, value, before);
    return value;
  }

  #leaf(event: Event): Value {
    const before = this.#bytes;
    this.#bytes += bytesPerValue;
    const value = this.#leafOf(event);
    this.#keep(event, value, before);
    return value;
  }

  #keep(event: Event, value: Value, bytesBefore: number): void {
    const anchor = "anchorStart" in event && event.type !== EVENT_ID.ALIAS ? this.#anchorOf(event) : "";
    if (anchor !== "") this.#anchors.set(anchor, { value, bytes: this.#bytes - bytesBefore });
  }

  #leafOf(event: Event): Value {
    switch (event.type) {
      case EVENT_ID.SCALAR:
        if (event.valueStart !== -1) this.#end = event.valueEnd;
        this.#bytes += event.valueEnd - event.valueStart;
        return this.#scalar(event);
      case EVENT_ID.ALIAS: {
        this.#end = event.anchorEnd;
        const known = this.#anchors.get(this.#anchorOf(event));
        if (known === undefined) throw this.#fault("an alias of an unknown anchor, or of one that contains it");
        this.#aliasedBytes += known.bytes;
        this.#bytes += known.bytes;
        if (this.#aliasedBytes > maxAliasedBytes) {
          throw this.#fault(`document contains excessive aliasing: more than ${maxAliasedBytes} bytes`);
        }
        return known.value;
      }
      case EVENT_ID.MAPPING:
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.DOCUMENT:
      case EVENT_ID.POP:
        throw this.#fault("a value is missing");
    }
  }

  #anchorOf({ anchorStart, anchorEnd }: { anchorStart: number; anchorEnd: number }): string {
    return anchorStart === -1 ? "" : this.#text.slice(anchorStart, anchorEnd);
  }

  #scalar(event: ScalarEvent): Scalar {
    const text = getScalarValue(this.#text, event);
    const tag = event.tagStart === -1 ? "" : this.#text.slice(event.tagStart, event.tagEnd);
    if (tag === "!!binary") return binary(text);
    if (tag === "" && event.style !== SCALAR_STYLE.PLAIN) return text;
    if (!resolvableTags.has(tag)) return text;
    const value = resolvePlain(text);
    if (tag === "" || tag === `!!${tagOf(value)}`) return value;
    if (tag === "!!float" && typeof value === "bigint") return Number(value);
    throw this.#fault(`a value that is not of its tag ${tag}`);
  }

  #startOf(event: Event): number {
    if (event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP) return this.#end;
    const starts = [event.anchorStart, "tagStart" in event ? event.tagStart : -1];
    if (event.type === EVENT_ID.SCALAR) starts.push(event.valueStart);
    if (event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE) starts.push(event.start);
    const known = starts.filter((start) => start !== -1);
    return known.length === 0 ? this.#end : Math.min(...known);
  }

  #startOfNext(): number {
    for (let at = this.#next; at < this.#events.length; at++) {
      const event = this.#events[at];
      if (event === undefined || event.type === EVENT_ID.DOCUMENT) return this.#endOfDocument();
      if (event.type !== EVENT_ID.POP) return this.#startOf(event);
    }
    return this.#text.length;
  }

  #columnOf(start: number): number {
    return start - this.#lines.startOf(start);
  }
}

/** It ends where the next line begins: what stands there is not behind it. */
function isBlockText(event: Event): boolean {
  return event.type === EVENT_ID.SCALAR && event.style >= SCALAR_STYLE.LITERAL_BLOCK;
}

function commentItem(key: Exclude<Item["key"], string>): Item {
  return { key, value: null };
}

const resolvableTags: ReadonlySet<string> = new Set(["", "!!bool", "!!int", "!!float", "!!null", "!!timestamp"]);

function tagOf(value: Scalar): string {
  if (value === null) return "null";
  if (value instanceof SopsTime) return "timestamp";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int";
  return typeof value === "number" ? "float" : "str";
}

/** Go's word for the type of a key that is not text. */
function goType(value: Value): string {
  if (value instanceof SopsTime) return "time.Time";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int";
  return typeof value === "number" ? "float64" : "<nil>";
}

function binary(text: string): Scalar {
  const bytes = Buffer.from(text, "base64");
  return isUtf8(bytes) ? bytes.toString("utf8") : bytes;
}
