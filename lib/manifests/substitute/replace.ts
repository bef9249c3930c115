import { bordersOf, extended } from "../borders.ts";
import type { StepBudget } from "./step-budget.ts";

/** Steps to remember a place. */
const stepsOfOccurrence = 4;

/** The variables, and how large the text may become. */
interface Replacement {
  readonly pattern: string;
  readonly by: string;
  readonly maxLength: number;
}

/**
 * The text with occurrences of a pattern replaced. Texts are of bytes, one character each (`latin1`).
 *
 * @param occurrences in ascending order
 * @throws RangeError before the text becomes longer than `maxLength`; OutOfSteps
 */
export function replaceAt(
  occurrences: readonly number[],
  text: string,
  { pattern, by, maxLength }: Replacement,
  budget: Pick<StepBudget, "spend">,
): string {
  const length = text.length + occurrences.length * (by.length - pattern.length);
  if (length > maxLength) throw new RangeError(`it becomes larger than ${maxLength} bytes`);
  budget.spend(length);
  const result = Buffer.alloc(length);
  let from = 0;
  let to = 0;
  const put = (source: string, start: number, end: number): void => {
    for (let at = start; at < end; at++) result[to++] = source.charCodeAt(at);
  };
  for (const at of occurrences) {
    put(text, from, at);
    put(by, 0, by.length);
    from = at + pattern.length;
  }
  put(text, from, text.length);
  return result.toString("latin1");
}

/**
 * Where a pattern that is not empty occurs in a text, up to `most` times, without overlaps. Takes as many steps as both are long
 * (Knuth, Morris and Pratt, 1977): V8's own search takes the product of them for some.
 *
 * @throws OutOfSteps
 */
export function occurrencesOf(
  pattern: string,
  text: string,
  most: number,
  budget: Pick<StepBudget, "spend">,
): readonly number[] {
  budget.spend(pattern.length + text.length);
  const borders = bordersOf(pattern);
  const found: number[] = [];
  let matched = 0;
  for (let at = 0; at < text.length && found.length < most; at++) {
    matched = extended(pattern, borders, matched, text.charCodeAt(at));
    if (matched < pattern.length) continue;
    budget.spend(stepsOfOccurrence);
    found.push(at + 1 - pattern.length);
    matched = 0;
  }
  return found;
}
