import { EVENT_ID, type Event } from "js-yaml";
import { SopsComment } from "../tree.ts";
import type { YamlLines } from "./yaml-lines.ts";

interface Found {
  readonly start: number;
  readonly column: number;
  /** Nothing else stands on its line before it. */
  readonly ownLine: boolean;
  readonly text: string;
}

/** The comments of a text in their order, which the events of js-yaml leave out. Taken one after the other. */
export class YamlComments {
  readonly #lines: YamlLines;
  readonly #found: readonly Found[];
  #next = 0;

  constructor(text: string, lines: YamlLines, events: readonly Event[]) {
    this.#lines = lines;
    this.#found = commentsOf(text, lines, events);
  }

  get count(): number {
    return this.#found.length;
  }

  /** All that start before the offset, as comments of their own. */
  before(offset: number): SopsComment[] {
    return this.#take(({ start }) => start < offset, false);
  }

  /** The comments before the offset that are indented at least as far as a block that has ended there. */
  atEndOfBlock(column: number, offset: number): SopsComment[] {
    return this.#take((found) => found.start < offset && found.ownLine && found.column >= column, false);
  }

  /** The comments after the offset on its line. */
  behind(offset: number, inline: boolean): SopsComment[] {
    if (this.#next === this.#found.length) return [];
    const end = this.#lines.endOf(offset);
    return this.#take(({ start }) => start >= offset && start < end, inline);
  }

  #take(fits: (found: Found) => boolean, inline: boolean): SopsComment[] {
    const taken: SopsComment[] = [];
    for (let found = this.#found[this.#next]; found !== undefined && fits(found); found = this.#found[this.#next]) {
      taken.push(new SopsComment(found.text, inline));
      this.#next++;
    }
    return taken;
  }
}

/** A `#` outside of scalars starts a comment at the start of a line or behind a space. */
function commentsOf(text: string, lines: YamlLines, events: readonly Event[]): Found[] {
  const found: Found[] = [];
  // Looked for once: without comments, the next one would be looked for to the end of the text behind every scalar.
  let start = text.indexOf("#");
  const collect = (from: number, to: number): void => {
    if (start !== -1 && start < from) start = text.indexOf("#", from);
    while (start !== -1 && start < to) {
      const before = text.charAt(start - 1);
      const isComment = before === "" || /\s/.test(before);
      const stop = isComment ? lines.endOf(start) : start + 1;
      if (isComment) found.push(commentAt(text, lines.startOf(start), start, stop));
      start = text.indexOf("#", stop);
    }
  };
  let at = 0;
  for (const event of events) {
    if (event.type !== EVENT_ID.SCALAR || event.valueStart === -1) continue;
    collect(at, event.valueStart);
    at = event.valueEnd;
  }
  collect(at, text.length);
  return found;
}

function commentAt(text: string, line: number, start: number, stop: number): Found {
  return {
    start,
    column: start - line,
    ownLine: text.slice(line, start).trim() === "",
    text: text.slice(start + 1, stop).replace(/\r$/, ""),
  };
}
