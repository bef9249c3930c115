import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What the licence, copying and notice files of a package say, by path: those at its top, or also those in folders below. */
export function licenceTexts(folder: string, { recursive = false } = {}): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive })
    .filter((entry) => entry.isFile() && /^(licen[cs]e|copying|notice)([.-](md|txt|mit))*$/i.test(entry.name))
    .map(({ name, parentPath }) => join(parentPath, name))
    .toSorted()
    .map((file) => readFileSync(file, "utf8"));
}
