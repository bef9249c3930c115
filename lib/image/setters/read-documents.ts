import { type Event, parseEvents, YAMLException } from "js-yaml";
import { spacedText } from "./spaced-text.ts";

/** The limit for one document of a file: nothing else runs while it is parsed. */
export const maxDocumentChars = 2 * 1_048_576;
/** Line breaks and characters of a document that may start a value. */
export const maxIndicators = 200_000;
/** Lists and mappings of a document inside each other. */
export const maxDepth = 100;

/** Documents of a file, empty ones too. */
export const maxDocuments = 10_000;

/** What stands between two `---` of a file. */
export interface DocumentEvents {
  /** What the events count in; not always the text of the file. */
  readonly text: string;
  readonly events: readonly Event[];
  /** The offset in the text of the file. */
  readonly placeOf: (offset: number) => number;
}

/**
 * The documents of a text one after the other, each a step. Answers whether all of them are YAML.
 *
 * @throws RangeError if a document is beyond a limit
 */
export function* readDocuments(
  path: string,
  text: string,
  read: (document: DocumentEvents) => boolean,
): Generator<undefined, boolean> {
  let count = 0;
  for (const [start, end] of documentsOf(text)) {
    count++;
    if (count > maxDocuments) {
      const what = `${path} holds image policy markers and has more than ${maxDocuments} documents`;
      throw new RangeError(`${what}: split it into several files`);
    }
    const document = yield* eventsOf(path, text, start, end);
    yield;
    if (document === undefined || !read(document)) return false;
  }
  return true;
}

/** Where each document starts and ends. Only a marker of documents may begin a line with `---`, whatever it stands in. */
function* documentsOf(text: string): Generator<readonly [number, number]> {
  let start = 0;
  for (const { index } of text.matchAll(/^---(?=[ \t\r\n]|$)/gm)) {
    if (index > start) yield [start, index];
    start = index;
  }
  yield [start, text.length];
}

function* eventsOf(
  path: string,
  file: string,
  start: number,
  end: number,
): Generator<undefined, DocumentEvents | undefined> {
  const text = file.slice(start, end);
  const refuse = (what: string, mend: string): RangeError => {
    const line = file.slice(0, start).split("\n").length;
    return new RangeError(`${path} holds image policy markers, and its document at line ${line} ${what}: ${mend}`);
  };
  if (text.length > maxDocumentChars) {
    throw refuse(`has more than ${maxDocumentChars} characters`, "move the parts without markers to another file");
  }
  if (hasManyIndicators(text)) {
    const what = `has more than ${maxIndicators} line breaks and characters that may start a value`;
    throw refuse(what, "move the parts without markers to another file");
  }
  const parsed = parse(text);
  if (parsed === "deep") throw refuse(`is nested deeper than ${maxDepth} levels`, "nest it less deeply");
  if (parsed !== undefined) return { text, events: parsed, placeOf: (offset) => start + offset };
  const spaced = yield* spacedText(text);
  if (spaced === undefined) return undefined;
  const events = parse(spaced.text);
  if (events === "deep") throw refuse(`is nested deeper than ${maxDepth} levels`, "nest it less deeply");
  if (events === undefined) return undefined;
  return { text: spaced.text, events, placeOf: (offset) => start + spaced.placeOf(offset) };
}

const indicators = new Set<number>(Buffer.from("[{,:?-&!*\n\r"));

function hasManyIndicators(text: string): boolean {
  if (text.length <= maxIndicators) return false;
  let count = 0;
  for (let at = 0; at < text.length; at++) if (indicators.has(text.charCodeAt(at))) count++;
  return count > maxIndicators;
}

/** Undefined if it is not YAML. */
function parse(text: string): readonly Event[] | "deep" | undefined {
  try {
    return parseEvents(text, { maxDepth });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    return error.reason.includes("nesting") ? "deep" : undefined;
  }
}
