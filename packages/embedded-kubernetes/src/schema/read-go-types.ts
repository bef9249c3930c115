import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../core/json.ts";

interface Field {
  /** As JSON has it; empty for a struct whose fields are taken in. */
  readonly name: string;
  readonly type: string;
}

/**
 * What OpenAPI does not tell of the fields of the named types, read from Go's declarations: for each field, in their
 * order, its Go type, after `!` where it is written even when empty and after `~` where a zero struct is left out.
 * `root` is the folder of Kubernetes' modules, `$(go env GOMODCACHE)/k8s.io`; `version` theirs, `v0.35.4`.
 */
export function readGoTypes(names: readonly string[], root: string, version: string): JsonObject {
  const folders = new Map<string, ReadonlyMap<string, readonly Field[]>>();
  const entries = names.flatMap((name): [string, JsonObject][] => {
    const folder = folderOf(root, version, name);
    if (folder === undefined) return [];
    const structs = folders.get(folder) ?? structsIn(folder);
    folders.set(folder, structs);
    const fields = resolved(name.slice(name.lastIndexOf(".") + 1), structs);
    return fields === undefined ? [] : [[name, Object.fromEntries(fields.map((field) => [field.name, field.type]))]];
  });
  return Object.fromEntries(entries);
}

/** Where Go declares a type that OpenAPI calls `core.v1.PodSpec`. */
function folderOf(root: string, version: string, name: string): string | undefined {
  const [first = "", second = "", third = ""] = name.split(".");
  if (first === "apis" && second === "meta") return join(root, `apimachinery@${version}/pkg/apis/meta/${third}`);
  if (first === "apis") return join(root, `apiextensions-apiserver@${version}/pkg/apis/${second}/${third}`);
  return /^v\d/.test(second) ? join(root, `api@${version}/${first}/${second}`) : undefined;
}

/** The structs that the files of a folder declare. */
function structsIn(folder: string): ReadonlyMap<string, readonly Field[]> {
  const structs = new Map<string, readonly Field[]>();
  const packageName = folder.slice(folder.lastIndexOf("/") + 1);
  const files = readdirSync(folder).filter((file) => file.endsWith(".go") && !/_test\.go$|^generated|^zz_/.test(file));
  for (const file of files) {
    const text = readFileSync(join(folder, file), "utf8");
    for (const [, name = "", body = ""] of text.matchAll(/^(?:type |\t)(\w+) struct \{\n(.*?)^\t?\}/gms)) {
      structs.set(name, fieldsOf(body, packageName));
    }
  }
  return structs;
}

function fieldsOf(body: string, packageName: string): readonly Field[] {
  return Array.from(body.matchAll(/^\t+(?:(\w+)\s+)?(\S+)\s+`[^`]*json:"([^"]*)"/gm), ([, , type = "", tag = ""]) => {
    const [name = "", ...words] = tag.split(",");
    if (words.includes("inline")) return { name: "", type };
    const flag = words.includes("omitzero") ? "~" : words.includes("omitempty") ? "" : "!";
    return { name, type: `${flag}${qualified(type, packageName)}` };
  }).filter(({ name }) => name !== "-");
}

/** A type as Go prints it: `[]v1.Container`, whatever the file calls the package. */
function qualified(type: string, packageName: string): string {
  return type
    .replaceAll(/\b(?:meta|core|api|autoscaling)(v\d\w*)\./g, "$1.")
    .replaceAll(/(?<![.\w])([A-Z]\w*)/g, `${packageName}.$1`)
    .replaceAll("interface{}", "interface {}");
}

function resolved(name: string, structs: ReadonlyMap<string, readonly Field[]>): readonly Field[] | undefined {
  return structs.get(name)?.flatMap((field) => {
    if (field.name !== "") return [field];
    if (/TypeMeta$/.test(field.type)) {
      return [
        { name: "kind", type: "string" },
        { name: "apiVersion", type: "string" },
      ];
    }
    return resolved(field.type.replace(/^\*?(\w+\.)?/, ""), structs) ?? [];
  });
}
