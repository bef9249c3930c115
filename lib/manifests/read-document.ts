import {
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  YAMLException,
} from "js-yaml";
import type { Json } from "../core/json.ts";
import { refuseAliasBomb } from "./alias-bomb.ts";
import { isOtherInYaml11, plainValue } from "./go-yaml/scalar.ts";
import { Unacceptable, Undecided, yamlFault } from "./read-failure.ts";
import { type DocumentText, lineAt } from "./split-documents.ts";

/** Deeper than any Kubernetes object, and far below the depth at which a recursive reader runs out of stack. */
export const maxDepth = 100;

/** Which readers have to agree: `any` is one of YAML 1.1 too. */
export type Readers = "go-yaml" | "any";

/**
 * One document as JSON; undefined if it is empty. Reads only what js-yaml and go-yaml certainly read alike. Throws
 * {@link Undecided} for everything else, and {@link Unacceptable} for what no builder should read.
 */
export function readDocument(document: DocumentText, readers: Readers = "go-yaml"): Json | undefined {
  if (/^\s*$/.test(document.text)) return undefined;
  const events = parse(document);
  if (events.length === 0) return undefined;
  refuseAliasBomb(events, document);
  if (document.text.includes("\t")) leaveTabsToTheEngine(events, document.text);
  const reader = new EventReader(events, document, readers);
  return reader.document();
}

/** All readers agree on a tab inside a literal block; elsewhere they differ. */
function leaveTabsToTheEngine(events: readonly Event[], text: string): void {
  let inside = 0;
  for (const event of events) {
    if (event.type !== EVENT_ID.SCALAR || event.style !== SCALAR_STYLE.LITERAL_BLOCK) continue;
    inside += text.slice(event.valueStart, event.valueEnd).split("\t").length - 1;
  }
  if (inside < text.split("\t").length - 1) throw new Undecided("a tab outside of a literal block");
}

function parse({ text, line }: DocumentText): Event[] {
  try {
    return parseEvents(text, { maxDepth });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    if (error.reason.includes("nesting")) {
      throw new Unacceptable(`nested deeper than ${maxDepth} levels`, line + (error.mark?.line ?? 0));
    }
    throw new Undecided(yamlFault(error), { cause: error });
  }
}

/** A cursor over one document's events. */
class EventReader {
  readonly #events: readonly Event[];
  readonly #text: string;
  readonly #line: number;
  readonly #readers: Readers;
  #next = 0;

  constructor(events: readonly Event[], { text, line }: DocumentText, readers: Readers) {
    this.#events = events;
    this.#readers = readers;
    this.#text = text;
    this.#line = line;
  }

  document(): Json | undefined {
    const start = this.#take();
    if (start.type !== EVENT_ID.DOCUMENT || start.explicitEnd || start.directives.length > 0) {
      throw new Undecided("a directive or an explicit end of document");
    }
    const value = this.#peek().type === EVENT_ID.POP ? undefined : this.#value();
    if (this.#take().type !== EVENT_ID.POP || this.#next < this.#events.length) {
      throw new Undecided("several documents without a separator");
    }
    return value;
  }

  #peek(): Event {
    const event = this.#events[this.#next];
    if (event === undefined) throw new Undecided("an unfinished document");
    return event;
  }

  #take(): Event {
    const event = this.#peek();
    this.#next++;
    return event;
  }

  #value(): Json {
    const event = this.#take();
    switch (event.type) {
      case EVENT_ID.MAPPING:
        this.#plainNode(event);
        return this.#mapping();
      case EVENT_ID.SEQUENCE: {
        this.#plainNode(event);
        const items: Json[] = [];
        while (this.#peek().type !== EVENT_ID.POP) items.push(this.#value());
        this.#next++;
        return items;
      }
      case EVENT_ID.SCALAR:
        this.#plainNode(event);
        return this.#scalar(event);
      case EVENT_ID.ALIAS:
        throw new Undecided("an alias");
      case EVENT_ID.DOCUMENT:
      case EVENT_ID.POP:
        throw new Undecided("an unexpected end");
    }
  }

  #mapping(): Json {
    const mapping: { [key: string]: Json } = {};
    while (this.#peek().type !== EVENT_ID.POP) {
      const event = this.#take();
      if (event.type !== EVENT_ID.SCALAR) throw new Undecided("a key that is not a scalar");
      this.#plainNode(event);
      const key = this.#scalar(event);
      if (typeof key !== "string") throw new Undecided("a key that is not a string");
      if (key === "__proto__") throw new Unacceptable("a field is named __proto__", this.#lineOf(event));
      if (Object.hasOwn(mapping, key)) throw new Undecided("a key that is there twice");
      mapping[key] = this.#value();
    }
    this.#next++;
    return mapping;
  }

  #plainNode(event: { anchorStart: number; tagStart: number }): void {
    if (event.anchorStart !== -1 || event.tagStart !== -1) throw new Undecided("an anchor or a tag");
  }

  #scalar(event: ScalarEvent): Json {
    const raw = this.#text.slice(event.valueStart, event.valueEnd);
    const isBlock = event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK;
    if (!isBlock && (raw.includes("\n") || raw.includes("\t"))) throw new Undecided("a scalar over several lines");
    switch (event.style) {
      case SCALAR_STYLE.PLAIN:
        return this.#plain(raw);
      case SCALAR_STYLE.DOUBLE_QUOTED:
        if (/\\[^nt"\\/]/.test(raw.replaceAll("\\\\", ""))) throw new Undecided("an escape");
        return getScalarValue(this.#text, event);
      case SCALAR_STYLE.SINGLE_QUOTED:
        return getScalarValue(this.#text, event);
      case SCALAR_STYLE.LITERAL_BLOCK: {
        const value = this.#literal(event);
        // kyaml writes and reads each block once more, and go-yaml may not keep these unchanged.
        if (value === "" || /^[ \t\n]/.test(value) || value.endsWith("\n\n"))
          throw new Undecided("an odd literal block");
        return value;
      }
      case SCALAR_STYLE.FOLDED_BLOCK:
        throw new Undecided("a folded block");
    }
  }

  /** Where the text ends without a line end, so does the block in go-yaml; js-yaml gives it one. */
  #literal(event: ScalarEvent): string {
    const value = getScalarValue(this.#text, event);
    const isCut = event.valueEnd >= this.#text.length && !this.#text.endsWith("\n");
    return isCut && value.endsWith("\n") ? value.slice(0, -1) : value;
  }

  #plain(raw: string): Json {
    if (/: | #|^[%@`]/.test(raw)) throw new Undecided("an odd plain scalar");
    if (this.#readers === "any" && isOtherInYaml11(raw))
      throw new Undecided("a plain scalar that YAML 1.1 reads otherwise");
    const plain = plainValue(raw);
    if (plain === undefined) throw new Undecided("a plain scalar that only go-yaml reads");
    return plain.value;
  }

  #lineOf(event: ScalarEvent): number {
    return this.#line + lineAt(this.#text, event.valueStart);
  }
}
