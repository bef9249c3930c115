/** A string where a title stands: the argument of a test or describe, or what a row of a table gives to one. */
const title =
  /(?:\b(?:test|describe)(?:\.\w+)*\(|\)\(|\b(?:title|name|statements): |^\s*\[)\s*(["'`])(?<text>(?:\\.|(?!\1).)*)\1/gms;

/** The titles of a test file, tables' templates as they are written. */
export function titlesOf(source: string): readonly string[] {
  return [...source.matchAll(title)].map(({ groups }) => groups?.["text"] ?? "");
}
