import { quote } from "../core/go-value.ts";

const layout = "2006-01-02T15:04:05Z07:00";

/** The parts of the layout in their order, each with what it reads. */
const parts: readonly (readonly [element: string, pattern: RegExp])[] = [
  ["2006", /^\d{4}/],
  ["-", /^-/],
  ["01", /^\d\d/],
  ["-", /^-/],
  ["02", /^\d\d/],
  ["T", /^T/],
  ["15", /^\d{1,2}/],
  [":", /^:/],
  ["04", /^\d\d/],
  [":", /^:/],
  ["05", /^\d\d([.,]\d+)?/],
  ["Z07:00", /^(Z|[+-]\d\d:\d\d)/],
];

const daysInMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Go's text for what is no RFC 3339 time, or `undefined`: `parsing time "x" as "2006-…": cannot parse "x" as "2006"`. */
export function timeError(text: string): string | undefined {
  let rest = text;
  for (const [element, pattern] of parts) {
    const match = pattern.exec(rest);
    if (match === null) {
      return `parsing time ${quote(text)} as ${quote(layout)}: cannot parse ${quote(rest)} as ${quote(element)}`;
    }
    rest = rest.slice(match[0].length);
  }
  if (rest !== "") return `parsing time ${quote(text)}: extra text: ${quote(rest)}`;
  const range = rangeError(text);
  return range === undefined ? undefined : `parsing time ${quote(text)}: ${range} out of range`;
}

function rangeError(text: string): string | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = (text.match(/\d+/g) ?? []).map(Number);
  if (month < 1 || month > 12) return "month";
  if (hour > 23) return "hour";
  if (minute > 59) return "minute";
  if (second > 59) return "second";
  const isShortFebruary = month === 2 && (year % 4 !== 0 || (year % 100 === 0 && year % 400 !== 0));
  return day < 1 || day > (isShortFebruary ? 28 : (daysInMonth[month - 1] ?? 31)) ? "day" : undefined;
}
