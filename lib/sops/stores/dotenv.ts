import { shownScalar } from "../go-values.ts";
import { SopsFault } from "../sops-fault.ts";
import { Branch, type Item, isList, SopsComment, type Value } from "../tree.ts";
import { linesOf } from "./lines.ts";
import type { Store } from "./store.ts";

/** `KEY=value`, a line each; a line break inside a value is written `\n`. Nothing is quoted. */
export const dotenvStore: Store = {
  metadata: "prefix",
  load: (text) => [new Branch(linesOf(text).flatMap(itemOf))],
  emit: ([first]) => (first ?? new Branch([])).items.map(lineOf).join(""),
};

function itemOf(line: string, index: number): Item[] {
  if (line === "") return [];
  if (line.startsWith("#")) return [{ key: new SopsComment(line.slice(1), false), value: null }];
  const at = line.indexOf("=");
  if (at === -1) throw new SopsFault(`invalid dotenv input line: line ${index + 1} has no =`);
  return [{ key: line.slice(0, at), value: line.slice(at + 1).replaceAll(String.raw`\n`, "\n") }];
}

function lineOf({ key, value }: Item): string {
  if (key instanceof SopsComment) return `#${key.text}\n`;
  const name = typeof key === "string" ? key : key.text;
  if (value instanceof Branch || isList(value)) {
    throw new SopsFault(`cannot use complex value in dotenv file; offending key ${name}`);
  }
  return `${name}=${text(value)}\n`;
}

function text(value: Exclude<Value, Branch | readonly Value[]>): string {
  return typeof value === "string" ? value.replaceAll("\n", String.raw`\n`) : shownScalar(value);
}
