import { z } from "zod";

/** A line of a log as Logs Insights finds it: fields of objects have a dot in their name. */
export type LogLine = ReadonlyMap<string, string | number>;

/** Reads a line as the functions write it; one that is no JSON has its text alone. */
export function readLogLine(text: string): LogLine {
  const fields = new Map<string, string | number>([
    ["@message", text],
    ["@timestamp", "2026-01-01"],
  ]);
  if (text.startsWith("{")) addFields("", z.json().parse(JSON.parse(text)), fields);
  return fields;
}

function addFields(prefix: string, value: unknown, fields: Map<string, string | number>): void {
  if (typeof value === "string" || typeof value === "number") fields.set(prefix, value);
  else if (typeof value === "object" && value !== null) {
    for (const [name, part] of Object.entries(value))
      addFields(prefix === "" ? name : `${prefix}.${name}`, part, fields);
  }
}

/** What a query of ours finds: the lines that pass its filter, and the fields that it shows of them. */
export interface Found {
  readonly lines: readonly LogLine[];
  readonly fields: readonly string[];
}

/**
 * The part of the query language that our queries use: one filter of conditions with `or` and `and` between them, then `fields` or `stats`. Throws
 * for any other command, so that no query is taken for one that was tried.
 */
export function runQuery([filter = "", show = "", ...rest]: readonly string[], lines: readonly LogLine[]): Found {
  for (const command of rest) {
    if (!/^(sort @?\w+ (asc|desc)|limit \d+)$/.test(command)) throw new Error(`unknown command: ${command}`);
  }
  const [, conditions] = /^filter (.+)$/.exec(filter) ?? [];
  if (conditions === undefined) throw new Error(`no filter: ${filter}`);
  const tests = conditions.split(" or ").map((all) => all.split(" and ").map(conditionOf));
  const isFound = (line: LogLine): boolean => tests.some((all) => all.every((passes) => passes(line)));
  return { lines: lines.filter(isFound), fields: fieldsOf(show) };
}

function conditionOf(text: string): (line: LogLine) => boolean {
  const [, field = "", operator, word = ""] = /^(@?[\w.]+) (=|>=|>|like) (.+)$/.exec(text) ?? [];
  switch (operator ?? "") {
    case "like": {
      const pattern = new RegExp(word.slice(1, -1));
      return (line) => pattern.test(String(line.get(field) ?? ""));
    }
    case "=":
      return (line) => String(line.get(field) ?? "") === word.replaceAll('"', "");
    case ">=":
      return (line) => Number(line.get(field)) >= Number(word);
    case ">":
      return (line) => Number(line.get(field)) > Number(word);
    default:
      throw new Error(`unknown condition: ${text}`);
  }
}

function fieldsOf(show: string): readonly string[] {
  const [, listed] = /^fields (.+)$/.exec(show) ?? [];
  if (listed !== undefined) return listed.split(", ");
  const [, aggregates, by = ""] = /^stats (.+) by (.+)$/.exec(show) ?? [];
  if (aggregates === undefined) throw new Error(`neither fields nor stats: ${show}`);
  const inside = aggregates.split(", ").map((one) => {
    const [, field] = /^(?:count|latest|earliest)\(([*\w]+)\) as \w+$/.exec(one) ?? [];
    if (field === undefined) throw new Error(`unknown aggregate: ${one}`);
    return field;
  });
  return [...inside.filter((field) => field !== "*"), ...by.split(", ")];
}
