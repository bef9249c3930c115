import { cutText, someOf } from "../core/cut-text.ts";

const maxNamed = 5;
const maxNameBytes = 100;

/**
 * What follows the message that a name was not found, for users who mistyped it: `; the repository has the tags v1.10.0, v1.9.0 and 3
 * more`. Numbers in names count as numbers, and the greatest come first. Pure.
 *
 * @param where what was searched: `the repository`
 * @param kind what the names are of: `tags`
 * @param usual names that come before all others
 */
export function presentNames(
  where: string,
  kind: string,
  names: readonly string[],
  usual: readonly string[] = [],
): string {
  const first = usual.filter((name) => names.includes(name));
  const others = names.filter((name) => !usual.includes(name)).toSorted(greatestFirst);
  const shown = [...first, ...others].map((name) => cutText(name, maxNameBytes));
  return shown.length === 0 ? `; ${where} has no ${kind}` : `; ${where} has the ${kind} ${someOf(shown, maxNamed)}`;
}

const collator = new Intl.Collator("en", { numeric: true });

function greatestFirst(a: string, b: string): number {
  return collator.compare(b, a);
}
