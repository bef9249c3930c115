import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { readGoTypes } from "./read-go-types.ts";
import { readServerTypes } from "./read-server-types.ts";

/**
 * Writes `types.json` from a dump of a real server's discovery and OpenAPI v3 documents, or from a running server.
 *
 *     node src/schema/generate-types.ts SERVER GO_MODULES GO_VERSION
 *
 * SERVER is a file or `http://127.0.0.1:8001`, as `kubectl proxy` serves it; GO_MODULES and GO_VERSION are where that
 * version's declarations are: `$(go env GOMODCACHE)/k8s.io v0.35.4`.
 */
const target = fileURLToPath(new URL("types.json", import.meta.url));
const prefixes = ["io.k8s.api.", "io.k8s.apimachinery.pkg.", "io.k8s.apiextensions-apiserver.pkg.", "io.k8s."];
const extensions: Readonly<Record<string, string>> = {
  "x-kubernetes-list-type": "listType",
  "x-kubernetes-list-map-keys": "mapKeys",
  "x-kubernetes-map-type": "mapType",
  "x-kubernetes-patch-strategy": "patchStrategy",
  "x-kubernetes-patch-merge-key": "patchMergeKey",
};
const kept = new Set(["type", "required", "default", "enum", "format", "nullable"]);

/** The schemas that served kinds reach, by their short names, and the kinds' own. */
export function compactTypes(dump: JsonObject): JsonObject {
  const schemas = objectAt(dump, "schemas");
  const kinds: Record<string, string> = {};
  const types: Record<string, Json> = {};
  for (const [name, schema] of Object.entries(schemas)) {
    if (!isJsonObject(schema)) continue;
    const gvks = schema["x-kubernetes-group-version-kind"];
    const gvk = Array.isArray(gvks) && gvks.length === 1 && isJsonObject(gvks[0]) ? gvks[0] : undefined;
    if (gvk === undefined || textAt(gvk, "kind").endsWith("List")) continue;
    kinds[`${textAt(gvk, "group")}/${textAt(gvk, "version")}/${textAt(gvk, "kind")}`] = shortName(name);
    collect(name, schemas, types);
  }
  const { serverVersion = null, groups = [] } = dump;
  return { serverVersion, groups, resources: objectAt(dump, "resources"), kinds: sorted(kinds), types: sorted(types) };
}

function collect(name: string, schemas: JsonObject, types: Record<string, Json>): void {
  if (types[shortName(name)] !== undefined) return;
  const references = new Set<string>();
  types[shortName(name)] = compact(objectAt(schemas, name), references);
  for (const reference of references) collect(reference, schemas, types);
}

/** A type in few letters: a bare `"string"` for `{"type": "string"}`, `"#core.v1.PodSpec"` for a reference. */
function compact(schema: JsonObject, references: Set<string>): Json {
  const result: Record<string, Json> = {};
  for (const [word, value] of Object.entries(schema)) {
    const extension = extensions[word];
    if (extension !== undefined) result[extension] = value;
    else if (kept.has(word)) result[word] = value;
    else if (word === "items" && isJsonObject(value)) result[word] = compact(value, references);
    else if (word === "additionalProperties" && isJsonObject(value)) result[word] = compact(value, references);
    else if (word === "properties" && isJsonObject(value)) {
      result[word] = Object.fromEntries(
        Object.entries(value).map(([field, property]) => [field, compact(asObject(property), references)]),
      );
    }
  }
  const reference = referenceOf(schema);
  if (reference !== undefined) {
    references.add(reference);
    result["ref"] = shortName(reference);
  }
  if (schema["oneOf"] !== undefined) {
    const isIntOrString = schema["format"] === "int-or-string";
    delete result["type"];
    delete result["format"];
    result[isIntOrString ? "intOrString" : "quantity"] = true;
  }
  const words = Object.keys(result);
  if (words.length === 1 && typeof result["type"] === "string") return result["type"];
  if (words.length === 1 && typeof result["ref"] === "string") return `#${result["ref"]}`;
  return result;
}

function referenceOf(schema: JsonObject): string | undefined {
  const { allOf } = schema;
  const holder = Array.isArray(allOf) && isJsonObject(allOf[0]) ? allOf[0] : schema;
  const reference = holder["$ref"];
  return typeof reference === "string" ? reference.slice(reference.lastIndexOf("/") + 1) : undefined;
}

function shortName(name: string): string {
  const prefix = prefixes.find((candidate) => name.startsWith(candidate)) ?? "";
  return name.slice(prefix.length);
}

function objectAt(object: JsonObject, field: string): JsonObject {
  return asObject(object[field]);
}

function textAt(object: JsonObject, field: string): string {
  const value = object[field];
  if (typeof value !== "string") throw new TypeError(`the dump has a kind without ${field}`);
  return value;
}

function asObject(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw new TypeError("the dump is no discovery and OpenAPI document");
  return value;
}

function sorted(record: Record<string, Json>): JsonObject {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** One type a line, so that a diff of two server versions reads. */
function printed(types: JsonObject): string {
  const sections = Object.entries(types).map(([section, value]) =>
    isJsonObject(value)
      ? `${JSON.stringify(section)}:${printedLines(value)}`
      : `${JSON.stringify(section)}:${JSON.stringify(value)}`,
  );
  return `{${sections.join(",\n")}}\n`;
}

function printedLines(section: JsonObject): string {
  const lines = Object.entries(section).map(([key, item]) => `${JSON.stringify(key)}:${JSON.stringify(item)}`);
  return `{\n${lines.join(",\n")}\n}`;
}

if (import.meta.main) {
  const [, , from, goModules, goVersion] = process.argv;
  if (from === undefined || goModules === undefined || goVersion === undefined) {
    throw new Error("usage: generate-types.ts FILE|URL GO_MODULES GO_VERSION");
  }
  const dump = from.startsWith("http")
    ? await readServerTypes(from)
    : asObject(JSON.parse(await readFile(from, "utf8")));
  const types = compactTypes(dump);
  const goTypes = readGoTypes(Object.keys(objectAt(types, "types")), goModules, goVersion);
  await writeFile(target, printed({ ...types, goTypes }));
}
