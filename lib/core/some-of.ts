/** `a, b, c and 2 more`: enough of a list to know what it is about. Pure. @param maxNamed more than these are counted, not told */
export function someOf(names: readonly string[], maxNamed = 3): string {
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
  return `${names.slice(0, maxNamed).join(", ")}${more}`;
}
