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
import { plainValue } from "./go-scalar.ts";
import { lineAt } from "./line-at.ts";
import { Unacceptable, Undecided } from "./read-failure.ts";
import type { DocumentText } from "./split-documents.ts";
import { yamlFault } from "./yaml-fault.ts";

/** Deeper than any Kubernetes object, and far from where a recursive reader runs out of stack. */
export const maxDepth = 100;

/**
 * One document as JSON, undefined where it is empty. Reads only what js-yaml and go-yaml are sure to read alike: throws
 * {@link Undecided} for everything else, and {@link Unacceptable} for what nobody should read.
 */
export function readDocument(document: DocumentText): Json | undefined {
  if (/^\s*$/.test(document.text)) return undefined;
  const events = parse(document);
  if (events.length === 0) return undefined;
  refuseAliasBomb(events, document);
  if (document.text.includes("\t")) leaveTabsToTheEngine(events, document.text);
  const reader = new EventReader(events, document);
  return reader.document();
}

/** Tabs mean the same to every reader inside a literal block; elsewhere the readers differ. */
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
  #next = 0;

  constructor(events: readonly Event[], { text, line }: DocumentText) {
    this.#events = events;
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
    const seen = new Map<string, ScalarEvent>();
    while (this.#peek().type !== EVENT_ID.POP) {
      const event = this.#take();
      if (event.type !== EVENT_ID.SCALAR) throw new Undecided("a key that is no scalar");
      this.#plainNode(event);
      const key = this.#scalar(event);
      if (typeof key !== "string") throw new Undecided("a key that is no string");
      if (key === "__proto__") throw new Unacceptable("a field is named __proto__", this.#lineOf(event));
      const first = seen.get(key);
      if (first !== undefined) {
        const message = `mapping key ${JSON.stringify(key)} already defined at line ${this.#lineOf(first)}`;
        throw new Unacceptable(message, this.#lineOf(event));
      }
      seen.set(key, event);
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
        return this.#plain(raw, event);
      case SCALAR_STYLE.DOUBLE_QUOTED:
        if (/\\[^nt"\\/]/.test(raw.replaceAll("\\\\", ""))) throw new Undecided("an escape");
        return getScalarValue(this.#text, event);
      case SCALAR_STYLE.SINGLE_QUOTED:
        return getScalarValue(this.#text, event);
      case SCALAR_STYLE.LITERAL_BLOCK: {
        const value = getScalarValue(this.#text, event);
        // kyaml writes and reads a block once more on its way, and go-yaml is not sure to keep these.
        if (value === "" || /^[ \t\n]/.test(value) || value.endsWith("\n\n"))
          throw new Undecided("an odd literal block");
        return value;
      }
      case SCALAR_STYLE.FOLDED_BLOCK:
        throw new Undecided("a folded block");
    }
  }

  #plain(raw: string, event: ScalarEvent): Json {
    if (/: | #|^[%@`]/.test(raw)) throw new Undecided("an odd plain scalar");
    const plain = plainValue(raw);
    if (plain === undefined) throw new Undecided("a plain scalar that only go-yaml reads");
    if ("unsafeInteger" in plain) {
      throw new Unacceptable(
        "a number past 2^53 would lose digits: write it as a string if the field takes one",
        this.#lineOf(event),
      );
    }
    return plain.value;
  }

  #lineOf(event: ScalarEvent): number {
    return this.#line + lineAt(this.#text, event.valueStart);
  }
}
