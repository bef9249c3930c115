import { isDeepStrictEqual } from "node:util";

/** An item as it is sent: `{ pk: { S: "…" } }`. */
export type Row = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
/** The attribute of each `#name`. */
export type Names = Readonly<Record<string, string>>;
/** The value of each `:value`. */
export type Values = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Whether a condition holds for an item: the functions and operators that our adapter uses, joined by AND and OR without
 * brackets. Throws for any other, as DynamoDB does for what it does not understand.
 */
export function expressionHolds(text: string, names: Names, values: Values, row: Row | undefined): boolean {
  return text
    .split(" OR ")
    .some((part) => part.split(" AND ").every((term) => termHolds(term.trim(), names, values, row)));
}

function termHolds(term: string, names: Names, values: Values, row: Row | undefined): boolean {
  const [, name, attribute = "", argument = ""] = /^(\w+)\(([#\w]+)(?:, (:\w+))?\)$/.exec(term) ?? [];
  if (name !== undefined) {
    const found = row?.[nameOf(attribute, names)];
    if (name === "attribute_exists") return found !== undefined;
    if (name === "attribute_not_exists") return found === undefined;
    if (name === "begins_with") return String(found?.["S"]).startsWith(String(values[argument]?.["S"]));
  }
  const [, left = "", operator, right = ""] = /^([#\w]+) (=|<=|>=) ([#:\w]+)$/.exec(term) ?? [];
  if (operator === undefined) throw new Error(`Invalid expression: ${term}`);
  const [a, b] = [row?.[nameOf(left, names)], right.startsWith(":") ? values[right] : row?.[nameOf(right, names)]];
  if (a === undefined || b === undefined) return false;
  if (operator === "=") return isDeepStrictEqual(a, b);
  const difference = Number(a["N"]) - Number(b["N"]);
  return operator === "<=" ? difference <= 0 : difference >= 0;
}

/** The item after an update: `SET #a = :a, … REMOVE #b, …`. */
export function updatedBy(text: string, names: Names, values: Values, row: Row): Row {
  const [, set, remove] = /^SET (.*?)(?: REMOVE (.*))?$/.exec(text) ?? [];
  if (set === undefined) throw new Error(`Invalid UpdateExpression: ${text}`);
  const after: Record<string, Readonly<Record<string, unknown>>> = { ...row };
  for (const one of set.split(", ")) {
    const [name = "", value = ""] = one.split(" = ");
    const given = values[value];
    if (given === undefined) throw new Error(`Invalid UpdateExpression: ${value} is not defined`);
    after[nameOf(name, names)] = given;
  }
  for (const name of remove?.split(", ") ?? []) delete after[nameOf(name, names)];
  return after;
}

function nameOf(text: string, names: Names): string {
  if (!text.startsWith("#")) return text;
  const name = names[text];
  if (name === undefined) throw new Error(`Invalid expression: ${text} is not defined`);
  return name;
}
