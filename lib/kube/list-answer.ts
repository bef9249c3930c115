import { randomUUID } from "node:crypto";
import { timeSlices } from "../core/concurrency.ts";
import { isJsonObject, parseJson } from "../core/json.ts";
import { checkedChars, JsonCursor } from "../core/json-text.ts";

/** The limit for one answer, or for all pages of a list together, which are held in memory. */
export const maxListedObjects = 500_000;

/** Stands for the items while the rest is parsed. No text can know it. */
const placeholder = `items ${randomUUID()}`;

/** How many characters are scanned before other work may continue. */
const sliceChars = 1024 * 1024;
const [comma, openList, closeList] = [0x2c, 0x5b, 0x5d];

/**
 * The JSON of an answer with `items`. A long one is parsed item by item, and other work goes on in between: a page of 500 objects may
 * have tens of megabytes. Throws a `SyntaxError` or `RangeError` as {@link parseJson}, a `RangeError` for more than
 * {@link maxListedObjects} items, or the signal's reason.
 */
export async function parseList(text: string, signal: AbortSignal): Promise<unknown> {
  const found = text.length <= checkedChars ? undefined : await findItems(text, signal);
  if (found === undefined) return parseJson(text);
  const rest = parseJson(`${text.slice(0, found.begin)}"${placeholder}"${text.slice(found.end)}`);
  // If two fields have the same name, the last one counts.
  if (!isJsonObject(rest) || rest["items"] !== placeholder) return parseJson(text);
  const items: unknown[] = [];
  const slices = timeSlices(signal);
  for (const [begin, end] of found.items) {
    items.push(parseJson(text.slice(begin, end)));
    if (slices.isOver()) await slices.pause();
  }
  return { ...rest, items };
}

interface FoundItems {
  /** Where the list begins, at its bracket, and where what follows it begins. */
  readonly begin: number;
  readonly end: number;
  /** Where each item begins and ends. */
  readonly items: readonly (readonly [begin: number, end: number])[];
}

/** Where the items of a list are, of two lists those of the last; undefined if the text has none. */
async function findItems(text: string, signal: AbortSignal): Promise<FoundItems | undefined> {
  const cursor = new JsonCursor(text);
  const slices = timeSlices(signal);
  let found: FoundItems | undefined;
  let items: (readonly [number, number])[] = [];
  let begin = -1;
  let itemBegin = -1;
  let pauseAt = sliceChars;
  for (let code = cursor.next(); code !== -1; code = cursor.next()) {
    if (cursor.at > pauseAt) {
      pauseAt = cursor.at + sliceChars;
      if (slices.isOver()) await slices.pause();
    }
    if (begin === -1) {
      const isList = code === openList && cursor.depth === 2 && isValueOfItems(text, cursor.at);
      if (!isList) continue;
      begin = cursor.at;
      itemBegin = begin + 1;
    } else if (code === comma && cursor.depth === 2) {
      items.push([itemBegin, cursor.at]);
      itemBegin = cursor.at + 1;
      if (items.length >= maxListedObjects) throw new RangeError(`it has more than ${maxListedObjects} items`);
    } else if (code === closeList && cursor.depth === 1) {
      // An empty list has no item, whatever space it has.
      if (items.length > 0 || text.slice(itemBegin, cursor.at).trim() !== "") items.push([itemBegin, cursor.at]);
      found = { begin, end: cursor.at + 1, items };
      items = [];
      begin = -1;
    }
  }
  return found;
}

/** Whether the list that begins here is the value of the key `items`. */
function isValueOfItems(text: string, at: number): boolean {
  return /"items"\s*:\s*$/.test(text.slice(Math.max(0, at - 64), at));
}
