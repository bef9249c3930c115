/** More names than this are counted, not told. */
const maxNamed = 3;

/** `a, b, c and 2 more`: enough of a list to know what it is about. Pure. */
export function someOf(names: readonly string[]): string {
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
  return `${names.slice(0, maxNamed).join(", ")}${more}`;
}
