import { SopsFault } from "../sops-fault.ts";
import { maxParts } from "../tree.ts";

/**
 * The lines of a file in which each value, comment and section takes one at least.
 *
 * @param separator a line break; one that matches nothing leaves the line break to its line
 * @throws SopsFault before more than {@link maxParts} lines are split
 */
export function linesOf(text: string, separator: string | RegExp = "\n"): readonly string[] {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (++lines > maxParts) throw new SopsFault(`more than ${maxParts} lines: encrypt several smaller files`);
  }
  return text.split(separator);
}
