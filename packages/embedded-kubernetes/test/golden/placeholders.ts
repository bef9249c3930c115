import { isJsonObject, type Json } from "../../src/core/json.ts";

/** Values that placeholders stood for so far in a case. */
export type Bindings = Map<string, string>;

/** What an unbound placeholder may stand for. */
const forms: Readonly<Record<string, string>> = {
  rv: "\\d+",
  uid: "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
  ip: "\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}",
  nodePort: "3\\d{4}",
  name: "[a-z0-9][-a-z0-9.]*",
  continue: "[\\w-]+",
  time: "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z",
  age: "(?:\\d+[smhdy])+|<invalid>",
  date: '[^"]+?',
  hash: '[^&"]+',
  n: "\\d+",
  server: '[^"]+?',
};

const placeholder = /<(rv|uid|ip|nodePort|name|continue|time|age|date|hash|n|server)(?::(\d+))?>/g;

/** Numbers that are never shared by two placeholders of a kind. */
const distinct = new Set(["rv", "uid", "continue"]);

/** A request's text with what its placeholders stood for before. */
export function filledIn(text: string, bindings: Bindings): string {
  return text.replace(placeholder, (whole) => bindings.get(whole) ?? whole);
}

/** Whether the text is what was recorded; binds new placeholders. */
export function textMatches(recorded: string, actual: string, bindings: Bindings): boolean {
  if (recorded === actual) return true;
  const names: string[] = [];
  const pattern = splitAt(recorded)
    .map((part) => {
      const [, kind = "", number] = new RegExp(`^${placeholder.source}$`).exec(part) ?? [];
      if (kind === "") return escaped(part);
      const bound = number === undefined ? undefined : bindings.get(part);
      if (bound !== undefined) return escaped(bound);
      names.push(part);
      return `(${forms[kind] ?? ".*"})`;
    })
    .join("");
  const match = new RegExp(`^${pattern}$`, "s").exec(actual);
  if (match === null) return false;
  for (const [index, name] of names.entries()) {
    if (!name.includes(":")) continue;
    const value = match[index + 1] ?? "";
    const before = bindings.get(name);
    if (before !== undefined && before !== value) return false;
    if (before === undefined && isTaken(name, value, bindings)) return false;
    bindings.set(name, value);
  }
  return true;
}

function isTaken(name: string, value: string, bindings: Bindings): boolean {
  const kind = name.slice(1, name.indexOf(":"));
  return distinct.has(kind) && [...bindings].some(([other, bound]) => other.startsWith(`<${kind}:`) && bound === value);
}

function splitAt(text: string): readonly string[] {
  return text.split(/(<(?:rv|uid|ip|nodePort|name|continue|time|age|date|hash|n|server)(?::\d+)?>)/);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** The first place where the answer is not what was recorded, in words; `undefined` if it is. */
export function difference(
  recorded: Json,
  actual: Json | undefined,
  bindings: Bindings,
  path = "",
): string | undefined {
  const at = path === "" ? "the answer" : path;
  if (typeof recorded === "string" && (typeof actual === "string" || typeof actual === "number")) {
    const isNumber = typeof actual === "number" && !/^<(nodePort|n)/.test(recorded);
    if (!isNumber && textMatches(recorded, String(actual), bindings)) return undefined;
    return `${at}: recorded ${JSON.stringify(recorded)}, is ${JSON.stringify(actual)}`;
  }
  if (isList(recorded) && isList(actual)) {
    if (recorded.length !== actual.length) {
      return `${at}: recorded ${recorded.length} items, are ${actual.length}: ${shown(recorded)} and ${shown(actual)}`;
    }
    return firstOf(recorded, (item, index) => difference(item, actual[index], bindings, `${path}[${index}]`));
  }
  if (isJsonObject(recorded) && isJsonObject(actual)) {
    const named = Object.entries(recorded).map(([key, value]) => [filledIn(key, bindings), value] as const);
    const known = new Set(named.map(([key]) => key));
    const extra = Object.keys(actual).filter((key) => !known.has(key));
    if (extra.length > 0)
      return `${at}: more than recorded: ${shown(Object.fromEntries(extra.map((key) => [key, actual[key] ?? null])))}`;
    return firstOf(named, ([key, value]) => difference(value, actual[key], bindings, `${path}.${key}`));
  }
  return recorded === actual ? undefined : `${at}: recorded ${shown(recorded)}, is ${shown(actual)}`;
}

function firstOf<T>(items: readonly T[], check: (item: T, index: number) => string | undefined): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = check(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

function shown(value: Json | undefined): string {
  return value === undefined ? "nothing" : JSON.stringify(value).slice(0, 400);
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
