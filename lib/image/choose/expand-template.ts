/** A part of a template: a text, or the groups of which the first that took part in the match is inserted. */
type Part = string | readonly number[];

/** The parts of a pattern that a template uses. */
interface Groups {
  readonly count: number;
  readonly named: Readonly<Record<string, number>>;
}

/** A template of `spec.filterTags.extract`, read once for all tags. */
export type Template = (group: (index: number) => string | null) => string;

/**
 * Reads a template as Go's `Regexp.Expand` does: `$1`, `${1}`, `$name` and `${name}` are the texts of groups, `$$` is a dollar sign. A
 * name is as long as possible: `$1x` is the group named `1x`. A group that the pattern does not have is empty; a `$` that no
 * name follows stays.
 */
export function parseTemplate(template: string, groups: Groups): Template {
  const parts = partsOf(template, groups);
  return (group) =>
    parts
      .map((part) => (typeof part === "string" ? part : (part.map(group).find((text) => text !== null) ?? "")))
      .join("");
}

const reference = /\$(?:\$|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/gu;

function partsOf(template: string, groups: Groups): readonly Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of template.matchAll(reference)) {
    const [whole, braced, bare] = match;
    const name = braced ?? bare;
    parts.push(template.slice(end, match.index), name === undefined ? "$" : groupsOf(name, groups));
    end = match.index + whole.length;
  }
  parts.push(template.slice(end));
  return parts.filter((part) => part !== "");
}

function groupsOf(name: string, { count, named }: Groups): readonly number[] {
  // Eight digits and more, as well as leading zeros, make a name.
  if (/^(?:0|[1-9]\d{0,8})$/.test(name)) return Number(name) <= count ? [Number(name)] : [];
  const index = Object.hasOwn(named, name) ? named[name] : undefined;
  return index === undefined ? [] : [index];
}
