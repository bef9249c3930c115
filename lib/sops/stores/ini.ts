import { shownScalar } from "../go-values.ts";
import { SopsFault } from "../sops-fault.ts";
import { Branch, type Item, isList, SopsComment } from "../tree.ts";
import { IniReader } from "./ini-reader.ts";
import type { Store } from "./store.ts";

/** Sections of `key = value`, as the Go module ini.v1 reads and prints them. Entries before all sections are in `DEFAULT`. */
export const iniStore: Store = {
  metadata: "section",
  load: (text) => [new Branch(new IniReader(text).sections())],
  emit: (branches) => printed(branches.flatMap(({ items }) => items).flatMap(sectionOf)),
};

/** Each name in a section is padded to the width of the longest. */
export const maxNameBytes = 16 * 1024 * 1024;

interface Key {
  readonly name: string;
  value: string;
  comment: string;
}

interface Section {
  readonly name: string;
  readonly comment: string;
  readonly keys: readonly Key[];
}

function sectionOf({ key, value }: Item): Section[] {
  if (typeof key !== "string") return [];
  if (!(value instanceof Branch)) {
    throw new SopsFault("Error encoding section: Section values should always be TreeBranches");
  }
  if (key === "") throw new SopsFault("Error encoding section: empty section name");
  const first = value.items[0]?.key;
  const keys = new Map<string, Key>();
  let last: Key | undefined;
  for (const item of first instanceof SopsComment ? value.items.slice(1) : value.items) last = addTo(keys, item, last);
  return [{ name: key, comment: first instanceof SopsComment ? first.text : "", keys: [...keys.values()] }];
}

/**
 * A comment is of the last key. A key that comes again gives its value to the first one.
 *
 * @returns the last key
 */
function addTo(keys: Map<string, Key>, { key, value }: Item, last: Key | undefined): Key | undefined {
  if (key instanceof SopsComment) {
    if (last !== undefined) last.comment = key.text;
    return last;
  }
  if (typeof key !== "string" || key === "" || value instanceof Branch || isList(value)) {
    throw new SopsFault("Error encoding key: a section holds keys with single values");
  }
  const known = keys.get(key);
  if (known !== undefined) {
    known.value = shownScalar(value);
    return last;
  }
  const added = { name: key, value: shownScalar(value), comment: "" };
  keys.set(key, added);
  return added;
}

function printed(sections: readonly Section[]): string {
  const texts = sections.map(({ name, comment, keys }, index) => {
    const isDefault = index === 0 && name.toUpperCase() === "DEFAULT";
    if (isDefault && keys.length === 0) return comment === "" ? "" : commentText(comment, (line) => line);
    const title = isDefault ? "" : `[${name}]\n`;
    const end = index === sections.length - 1 ? "" : "\n";
    return `${commentText(comment, (line) => line)}${title}${keysText(keys)}${end}`;
  });
  return texts.join("");
}

function keysText(keys: readonly Key[]): string {
  const names = keys.map(({ name }) => quotedName(name));
  const width = names.reduce((widest, name) => Math.max(widest, Buffer.byteLength(name)), 0);
  if (width * names.length > maxNameBytes) {
    throw new SopsFault(`the names of a section would take more than ${maxNameBytes} bytes, aligned as they are`);
  }
  const lines = keys.map(({ value, comment }, index) => {
    const name = names[index] ?? "";
    const margin = " ".repeat(width - Buffer.byteLength(name));
    return `${commentText(comment, (line) => line.trim())}${name}${margin} = ${quotedValue(value)}\n`;
  });
  return lines.join("");
}

function commentText(comment: string, tidy: (line: string) => string): string {
  if (comment === "") return "";
  const lines = comment.split("\n").map((line) => {
    if (/^[#;]/.test(line)) return `${line.charAt(0)} ${line.slice(1).trim()}\n`;
    return `; ${tidy(line)}\n`;
  });
  return lines.join("");
}

function quotedName(name: string): string {
  if (/["=:]/.test(name)) return `\`${name}\``;
  return name.includes("`") ? `"""${name}"""` : name;
}

function quotedValue(value: string): string {
  if (/[\n`]/.test(value)) return `"""${value}"""`;
  if (/[#;]/.test(value)) return `\`${value}\``;
  return value.trim() === value ? value : `"${value}"`;
}
