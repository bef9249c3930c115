import { stripVTControlCharacters } from "node:util";

const shownLines = 40;
const linesAround = 1;

/** The lines of a difference that belong to one side, with a line around each: at most 40. */
export function differingLines(difference: string): string {
  const lines = stripVTControlCharacters(difference).split("\n");
  const isOfOneSide = (line: string): boolean => /^\s*[-+]/.test(line);
  const isNear = (_line: string, at: number): boolean =>
    lines.slice(Math.max(0, at - linesAround), at + linesAround + 1).some(isOfOneSide);
  const near = lines.filter(isNear);
  const left = near.length - shownLines;
  return [...near.slice(0, shownLines), ...(left > 0 ? [`(${left} more lines)`] : [])].join("\n");
}
