import { RE2JS } from "re2js";
import { messageOf } from "../core/failure.ts";

/** The limit for an expression: one that takes long to match is longer than any that a person writes. */
export const maxRegexLength = 1_024;

/** A regular expression of Go, which matches anywhere in a text. Throws a `RangeError` with the words of Go's `regexp.Compile`. */
export function compileRegex(pattern: string): RE2JS {
  if (pattern.length > maxRegexLength) throw new RangeError(`it has more than ${maxRegexLength} characters`);
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const message = messageOf(error);
    // Go quotes the rest of the expression here, which is empty.
    const isCut = message.endsWith("trailing backslash at end of expression");
    throw new RangeError(isCut ? `${message}: \`\`` : message, { cause: error });
  }
}
