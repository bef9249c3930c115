import { listOfNumbers, numbersOf } from "./numbers.ts";

/** The parts of the reference that have numbered statements. */
export const references = ["kustomization", "sources", "cli"] as const;
export type Reference = (typeof references)[number];

/** A string where a title stands: the argument of a test or describe, or what a row of a table gives to one. */
const title =
  /(?:\b(?:test|describe)(?:\.\w+)*\(|\)\(|\b(?:title|name|statements): |^\s*\[)\s*(["'`])(?<text>(?:\\.|(?!\1).)*)\1/gms;

/** The titles of a test file, tables' templates as they are written. */
export function titlesOf(source: string): readonly string[] {
  return [...source.matchAll(title)].map(({ groups }) => groups?.["text"] ?? "");
}

const inParentheses = new RegExp(`\\((${listOfNumbers})\\)`, "g");
const ofSources = new RegExp(`\\b11\\.\\d/(${listOfNumbers})`, "g");
const alone = new RegExp(`^(?:${listOfNumbers})$`);

/**
 * The statements that the titles of a test file name, as `(15, 16)` or in a table's `statements: "15, 16"`; those of the
 * sources as `11.3/60`, since its sections are what people look for. A number in parentheses is one of the command line's
 * in that one's tests, and one of a Kustomization's in all others.
 *
 * @param path below `test/`
 */
export function statementsIn(path: string, source: string): ReadonlyMap<Reference, ReadonlySet<number>> {
  const titles = titlesOf(source);
  const found = (pattern: RegExp) =>
    titles.flatMap((text) => [...text.matchAll(pattern)].flatMap(([, list = ""]) => numbersOf(list)));
  const ofRows = titles.filter((text) => alone.test(text)).flatMap(numbersOf);
  const bare = new Set([...found(inParentheses), ...ofRows]);
  const reference = /^(?:e2e|unit)\/cli\b/.test(path) ? "cli" : "kustomization";
  return new Map([
    [reference, bare],
    ["sources", new Set(found(ofSources))],
  ]);
}
