import { ConversionError } from "../core/conversion-error.ts";
import type { Json } from "../core/json.ts";
import { timeError } from "./go-time.ts";

const microTimes = new Set(["eventTime", "lastObservedTime", "acquireTime", "renewTime"]);

/**
 * Base64 as Go reads and writes it: line breaks are ignored.
 *
 * @throws {ConversionError} naming the first byte that is wrong
 */
export function canonicalBase64(text: string): string {
  const wrong = illegalByte(text);
  if (wrong !== undefined) throw new ConversionError(`illegal base64 data at input byte ${wrong}`);
  return Buffer.from(text, "base64").toString("base64");
}

/**
 * Times in UTC and whole seconds (micro times with six digits).
 *
 * @throws {ConversionError} for text that is not a time
 */
export function canonicalTime(text: string, field: string): Json {
  const error = timeError(text);
  if (error !== undefined) throw new ConversionError(error);
  const millis = Date.parse(text);
  const seconds = new Date(millis).toISOString().slice(0, 19);
  if (!microTimes.has(field)) return `${seconds}Z`;
  const fraction = /\.(\d{1,9})/.exec(text)?.[1] ?? "";
  return `${seconds}.${fraction.slice(0, 6).padEnd(6, "0")}Z`;
}

/** The offset that Go's decoder reports: the wrong character, the start of a cut-off group, or what follows the padding. */
function illegalByte(text: string): number | undefined {
  const characters = Array.from(text, (character, index) => ({ character, index })).filter(isNoLineBreak);
  const padding = characters.findIndex(({ character }) => character === "=");
  const data = padding === -1 ? characters : characters.slice(0, padding);
  const wrong = data.find(({ character }) => !/[A-Za-z0-9+/]/.test(character));
  if (wrong !== undefined) return wrong.index;

  const partial = data.length % 4;
  if (padding === -1) return partial === 0 ? undefined : text.length - partial;
  if (partial < 2) return characters[padding]?.index;
  const rest = characters.slice(padding);
  if (partial === 2 && rest[1]?.character !== "=") return rest[1] === undefined ? text.length : rest[1].index - 1;
  return rest[4 - partial]?.index;
}

function isNoLineBreak({ character }: { readonly character: string }): boolean {
  return character !== "\n" && character !== "\r";
}
