import { type Event, parseEvents, YAMLException } from "js-yaml";
import { keysSetTwice } from "./keys-set-twice.ts";

/** Characters that no plain text of YAML begins with. */
const startNoToken = new Set(["@", "`", "%", "\t"]);

const withoutEnd = "unexpected end of the stream within a flow collection";
const endsInFlow = new Set([withoutEnd, "deficient indentation"]);

/**
 * js-yaml's error as go-yaml says it: `line 3: found character that cannot start any token`. go-yaml counts lines from one, and names no
 * line if a fault of its scanner is in the first. Undefined for a fault whose words in go-yaml are not known.
 *
 * @param events of the text, if it can be parsed
 */
export function goYamlFault(
  { mark, reason }: YAMLException,
  text: string,
  events: readonly Event[] = [],
): string | undefined {
  if (reason === "null byte is not allowed in input" || reason === "the stream contains non-printable characters") {
    return "control characters are not allowed";
  }
  if (mark === undefined) return undefined;
  const { line, position } = mark;
  const scanned = (what: string): string => (line === 0 ? what : `line ${line + 1}: ${what}`);
  const isAtEnd = text.slice(position).trim() === "";
  // js-yaml has several words for a list or mapping in flow style without an end.
  if (isAtEnd && endsInFlow.has(reason)) return flowWithoutEnd(text);
  if (reason === "tab characters must not be used in indentation") {
    return scanned("found character that cannot start any token");
  }
  if (reason === "duplicated mapping key") return keysSetTwice(events, text);
  if (reason !== "bad indentation of a mapping entry") return undefined;
  const next = text[position] ?? "";
  if (next === ":") return scanned("mapping values are not allowed in this context");
  return startNoToken.has(next) ? scanned("found character that cannot start any token") : undefined;
}

/**
 * What go-yaml expects where a list or mapping in flow style has no end; undefined if the text ends in a quoted text, or perhaps in a
 * comment, a tag or the like. go-yaml ends the last line itself, and counts lines of a fault of its parser from zero.
 */
function flowWithoutEnd(text: string): string | undefined {
  const written = text.trimEnd();
  const lastLine = written.slice(written.lastIndexOf("\n") + 1);
  if (/[#!]/.test(lastLine)) return undefined;
  const line = `line ${text.replace(/\n$/, "").split("\n").length}: did not find expected`;
  if (/[[{,:]$/.test(lastLine)) return faultOf(written) === withoutEnd ? `${line} node content` : undefined;
  const isWord = /\w$/.test(lastLine) && !/[&*?]/.test(lastLine);
  if (!isWord && !/["'\]}]$/.test(lastLine)) return undefined;
  // Behind a value, another bracket than the one that is missing is a fault of its own.
  const closed = faultOf(`${written}]`);
  if (closed === missedComma) return `${line} ',' or '}'`;
  return closed === undefined || closed === withoutEnd ? `${line} ',' or ']'` : undefined;
}

const missedComma = "missed comma between flow collection entries";

/** js-yaml's words for the first fault. */
function faultOf(text: string): string | undefined {
  try {
    parseEvents(text, {});
    return undefined;
  } catch (error) {
    if (error instanceof YAMLException) return error.reason;
    throw error;
  }
}
