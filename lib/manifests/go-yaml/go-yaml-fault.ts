import type { YAMLException } from "js-yaml";
import { keysSetTwice } from "./keys-set-twice.ts";

/** Characters that no plain text of YAML begins with. */
const startNoToken = new Set(["@", "`", "%", "\t"]);

/**
 * js-yaml's error as go-yaml says it: `line 3: found character that cannot start any token`. go-yaml counts lines from one, and names no
 * line if a fault of its scanner is in the first. Undefined for a fault whose words in go-yaml are not known.
 */
export function goYamlFault({ mark, reason }: YAMLException, text: string): string | undefined {
  if (reason === "null byte is not allowed in input" || reason === "the stream contains non-printable characters") {
    return "control characters are not allowed";
  }
  if (mark === undefined) return undefined;
  const { line, position } = mark;
  const scanned = (what: string): string => (line === 0 ? what : `line ${line + 1}: ${what}`);
  const isAtEnd = text.slice(position).trim() === "";
  if (isAtEnd && reason === "unexpected end of the stream within a flow collection") return inFlow(text);
  // A list or mapping in flow style, or a quoted text, has no end.
  if (isAtEnd && reason === "deficient indentation" && !/["']/.test(text.split("\n").at(line - 1) ?? "")) {
    return inFlow(text);
  }
  if (reason === "tab characters must not be used in indentation") {
    return scanned("found character that cannot start any token");
  }
  if (reason === "duplicated mapping key") return keysSetTwice(text);
  if (reason !== "bad indentation of a mapping entry") return undefined;
  const next = text[position] ?? "";
  if (next === ":") return scanned("mapping values are not allowed in this context");
  return startNoToken.has(next) ? scanned("found character that cannot start any token") : undefined;
}

/** go-yaml ends the last line itself, and counts lines of a fault of its parser from zero. */
function inFlow(text: string): string {
  const lines = text.replace(/\n$/, "").split("\n").length;
  return `line ${lines}: did not find expected node content`;
}
