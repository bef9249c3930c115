import { constructFromEvents, EVENT_ID, type Event, SCALAR_STYLE, type ScalarEvent, YAMLException } from "js-yaml";
import { goSchema } from "./go-schema.ts";

/** go-yaml lists all of them; a text with more is not worth reading. */
const listedKeys = 100;

/** A key and the line of its value, counted from one; `seen` is shared by all pairs of one mapping. */
interface Pair {
  readonly key: ScalarEvent;
  readonly line: number;
  readonly seen: Set<unknown>;
}

/** A mapping that is open, or the list or document that is; its key and the line of its value, where they are known. */
interface Frame {
  readonly isMapping: boolean;
  readonly seen: Set<unknown>;
  key?: Event | undefined;
  line?: number | undefined;
}

/**
 * The keys that mappings of the first document have twice, in go-yaml's words, order and lines: those of the values. Undefined if there
 * are none, or if the words for one are not known. It takes time and memory in proportion to the text.
 */
export function keysSetTwice(events: readonly Event[], text: string): string | undefined {
  const twice: string[] = [];
  try {
    for (const batch of batchesOf(pairsOf(events, text))) {
      const keys = valuesOf(batch, text);
      for (const [at, { line, seen }] of batch.entries()) {
        const key = keys[at];
        if (!seen.has(key)) {
          seen.add(key);
          continue;
        }
        const name = goName(key);
        if (name === undefined) return undefined;
        twice.push(`\n  line ${line}: key ${name} already set in map`);
        if (twice.length === listedKeys) return `unmarshal errors:${twice.join("")}`;
      }
    }
  } catch (error) {
    if (error instanceof YAMLException) return undefined;
    throw error;
  }
  return twice.length === 0 ? undefined : `unmarshal errors:${twice.join("")}`;
}

/** Keys are compared in batches, so that the rest of the text is not looked at once enough are found. */
function* batchesOf(pairs: Iterable<Pair>): Generator<readonly Pair[]> {
  let batch: Pair[] = [];
  for (const pair of pairs) {
    if (batch.push(pair) < 1_000) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** The keys of all mappings, in the order in which their values end. */
function* pairsOf(events: readonly Event[], text: string): Generator<Pair> {
  const frames: Frame[] = [];
  const lineAt = lineCounter(text);
  const end = function* (frame: Frame | undefined): Generator<Pair> {
    if (frame?.isMapping !== true || frame.line === undefined) return;
    const { key, line, seen } = frame;
    if (key?.type === EVENT_ID.SCALAR && isPlainName(key, text)) yield { key, line, seen };
    frame.key = undefined;
    frame.line = undefined;
  };
  for (const event of events) {
    if (event.type === EVENT_ID.POP) {
      frames.pop();
      if (frames.length === 0) break;
      yield* end(frames.at(-1));
      continue;
    }
    const frame = frames.at(-1);
    if (frame?.isMapping === true) {
      const line = lineAt(startOf(event));
      if (frame.key === undefined) frame.key = event;
      else frame.line = isBlockText(event) ? line - 1 : line;
    }
    if (event.type === EVENT_ID.SCALAR || event.type === EVENT_ID.ALIAS) yield* end(frame);
    else frames.push({ isMapping: event.type === EVENT_ID.MAPPING, seen: new Set() });
  }
}

/** Positions come in the order of the text. A value that is not written, with position -1, is on the line of its key. */
function lineCounter(text: string): (position: number) => number {
  let line = 1;
  let from = 0;
  return (position) => {
    for (; from < position; from++) if (text[from] === "\n") line++;
    return line;
  };
}

function startOf(event: Exclude<Event, { readonly type: typeof EVENT_ID.POP }>): number {
  if (event.type === EVENT_ID.DOCUMENT) return -1;
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart;
  const { anchorStart, tagStart } = event;
  const start = event.type === EVENT_ID.SCALAR ? event.valueStart : event.start;
  return [anchorStart, tagStart].reduce((first, one) => (one >= 0 && (first < 0 || one < first) ? one : first), start);
}

/** A text below `|` or `>` begins on the line behind; one with an anchor or a tag begins there. */
function isBlockText(event: Event): boolean {
  if (event.type !== EVENT_ID.SCALAR || event.anchorStart >= 0 || event.tagStart >= 0) return false;
  return event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK;
}

/** A key without a tag that does not merge another mapping. */
function isPlainName({ style, tagStart, valueEnd, valueStart }: ScalarEvent, text: string): boolean {
  return tagStart < 0 && !(style === SCALAR_STYLE.PLAIN && text.slice(valueStart, valueEnd) === "<<");
}

/** The values of the keys, as those of one list. */
function valuesOf(pairs: readonly Pair[], text: string): readonly unknown[] {
  const none = { anchorEnd: -1, anchorStart: -1, tagEnd: -1, tagStart: -1 };
  const list: Event[] = [
    { type: EVENT_ID.DOCUMENT, explicitStart: false, explicitEnd: false, directives: [] },
    { type: EVENT_ID.SEQUENCE, start: 0, style: 1, ...none },
    ...pairs.map(({ key }) => key),
    { type: EVENT_ID.POP },
    { type: EVENT_ID.POP },
  ];
  const [values] = constructFromEvents(list, { source: text, schema: goSchema });
  return Array.isArray(values) ? values : [];
}

/** The key as Go's `%#v` prints it, where that is certain. */
function goName(key: unknown): string | undefined {
  if (typeof key === "string") return /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u.test(key) ? JSON.stringify(key) : undefined;
  return typeof key === "boolean" || Number.isSafeInteger(key) ? String(key) : undefined;
}
