import { COLLECTION_STYLE, EVENT_ID, type Event, getScalarValue, SCALAR_STYLE, type ScalarEvent } from "js-yaml";
import type { FoundScalar } from "./edit-scalar.ts";
import type { DocumentEvents } from "./read-documents.ts";
import { commentOf, type ScalarPlace } from "./scalar-comment.ts";

/** The scalars of an object that name it, where it has them. */
export interface ObjectFields {
  apiVersion?: ScalarEvent;
  kind?: ScalarEvent;
  namespace?: ScalarEvent;
  name?: ScalarEvent;
}

/** A scalar with a comment that may mark it. */
export interface CommentedScalar extends FoundScalar {
  readonly comment: string;
  /** The document, or the item of a `List`. */
  readonly object: ObjectFields;
}

/** The role of a value in its object. */
type Role = "object" | "metadata" | "items" | "item" | "other";

/**
 * The values with comments of what stands between two `---`, in their order. Undefined where Flux reads no objects in it: a top
 * level that is not a mapping, a directive, an alias without an anchor.
 */
export function commentedScalars(document: DocumentEvents): readonly CommentedScalar[] | undefined {
  return new DocumentReader(document).read();
}

class DocumentReader {
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #found: (CommentedScalar & { readonly item: ObjectFields | undefined })[] = [];
  readonly #anchors = new Set<string>();
  #isReadable = true;
  /** Whether the reader is inside of a key. */
  #isKey = false;
  #next = 0;
  /** Where the event before ended, or began if it is a collection. */
  #end = 0;
  #document: ObjectFields = {};
  #item: ObjectFields | undefined;

  constructor({ text, events }: DocumentEvents) {
    this.#text = text;
    this.#events = events;
  }

  read(): readonly CommentedScalar[] | undefined {
    const found: CommentedScalar[] = [];
    while (this.#next < this.#events.length && this.#isReadable) {
      this.#found.length = 0;
      this.#readDocument();
      const { kind } = this.#document;
      const isList = kind !== undefined && getScalarValue(this.#text, kind) === "List";
      for (const { item, ...scalar } of this.#found) {
        found.push({ ...scalar, object: isList && item !== undefined ? item : scalar.object });
      }
    }
    return this.#isReadable ? found : undefined;
  }

  #readDocument(): void {
    const start = this.#take();
    this.#anchors.clear();
    this.#document = {};
    this.#item = undefined;
    const top = this.#events[this.#next];
    const isEmpty = top?.type === EVENT_ID.POP || (top?.type === EVENT_ID.SCALAR && top.valueStart === -1);
    const hasDirective = start?.type === EVENT_ID.DOCUMENT && start.directives.length > 0;
    if (hasDirective || (!isEmpty && top?.type !== EVENT_ID.MAPPING)) this.#isReadable = false;
    while (this.#events[this.#next] !== undefined && this.#events[this.#next]?.type !== EVENT_ID.POP) {
      this.#value("object", { isItem: false, previous: "none" });
    }
    this.#next++;
  }

  #take(): Event | undefined {
    const event = this.#events[this.#next];
    this.#next++;
    return event;
  }

  #value(role: Role, place: Pick<ScalarPlace, "isItem" | "previous">): void {
    const event = this.#take();
    if (event === undefined || event.type === EVENT_ID.POP || event.type === EVENT_ID.DOCUMENT) return;
    const anchor = event.anchorStart === -1 ? undefined : this.#text.slice(event.anchorStart, event.anchorEnd);
    if (event.type === EVENT_ID.ALIAS) {
      if (!this.#anchors.has(anchor ?? "")) this.#isReadable = false;
      this.#end = event.anchorEnd;
      return;
    }
    if (anchor !== undefined) this.#anchors.add(anchor);
    if (event.type === EVENT_ID.SCALAR) this.#scalar(event, place);
    else if (event.type === EVENT_ID.MAPPING) this.#mapping(event.start, role);
    else this.#sequence(event.start, event.style === COLLECTION_STYLE.BLOCK, role);
  }

  #mapping(start: number, role: Role): void {
    this.#end = Math.max(this.#end, start);
    const outer = this.#item;
    if (role === "item") this.#item = {};
    for (let event = this.#events[this.#next]; event?.type !== EVENT_ID.POP; event = this.#events[this.#next]) {
      if (event === undefined) return;
      const key = event.type === EVENT_ID.SCALAR ? getScalarValue(this.#text, event) : undefined;
      this.#key();
      const value = this.#events[this.#next];
      if (value?.type === EVENT_ID.SCALAR) this.#name(key, role, value);
      this.#value(roleOf(key, role), { isItem: false, previous: "none" });
    }
    this.#next++;
    this.#item = outer;
  }

  /** Nothing of a key is set. */
  #key(): void {
    const wasKey = this.#isKey;
    this.#isKey = true;
    this.#value("other", { isItem: false, previous: "none" });
    this.#isKey = wasKey;
  }

  #sequence(start: number, isBlock: boolean, role: Role): void {
    this.#end = Math.max(this.#end, start);
    let previous: ScalarPlace["previous"] = "none";
    for (let event = this.#events[this.#next]; event?.type !== EVENT_ID.POP; event = this.#events[this.#next]) {
      if (event === undefined) return;
      this.#value(role === "items" ? "item" : "other", { isItem: isBlock, previous });
      previous = event.type === EVENT_ID.SCALAR || event.type === EVENT_ID.ALIAS ? "scalar" : "collection";
    }
    this.#next++;
  }

  #name(key: string | undefined, role: Role, value: ScalarEvent): void {
    const object = this.#item ?? this.#document;
    if (role === "object" || role === "item") {
      if (key === "apiVersion" || key === "kind") object[key] = value;
    } else if (role === "metadata" && (key === "name" || key === "namespace")) object[key] = value;
  }

  #scalar(event: ScalarEvent, place: Pick<ScalarPlace, "isItem" | "previous">): void {
    if (event.valueStart === -1) return;
    const header = this.#headerOf(event);
    const isQuoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
    const own = header === -1 ? event.valueStart - (isQuoted ? 1 : 0) : header;
    const starts = [own, event.anchorStart, event.tagStart].filter((start) => start !== -1);
    // The `&` is not part of the name of an anchor.
    const start = Math.min(...starts) - (Math.min(...starts) === event.anchorStart ? 1 : 0);
    const end = header === -1 ? event.valueEnd + (isQuoted ? 1 : 0) : this.#endOfIndicators(header);
    this.#end = event.valueEnd + (isQuoted ? 1 : 0);
    const comment = this.#isKey ? undefined : commentOf(this.#text, { ...place, start, end });
    if (comment === undefined) return;
    this.#found.push({ event, header, comment, object: this.#document, item: this.#item });
  }

  /** Where the `|` or `>` of a block is: the first on the line above its text, behind what stands before it there; -1 if it is none. */
  #headerOf(event: ScalarEvent): number {
    if (event.style !== SCALAR_STYLE.LITERAL_BLOCK && event.style !== SCALAR_STYLE.FOLDED_BLOCK) return -1;
    const line = this.#text.lastIndexOf("\n", event.valueStart - 2) + 1;
    const from = Math.max(line, this.#end, event.anchorEnd, event.tagEnd);
    const mark = this.#text.slice(from, event.valueStart).search(/[|>]/);
    return mark === -1 ? -1 : from + mark;
  }

  #endOfIndicators(header: number): number {
    let end = header + 1;
    while (/[-+0-9]/.test(this.#text.charAt(end))) end++;
    return end;
  }
}

function roleOf(key: string | undefined, role: Role): Role {
  if (role !== "object" && role !== "item") return "other";
  if (key === "metadata") return "metadata";
  return key === "items" && role === "object" ? "items" : "other";
}
