import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { readSemver } from "../semver-version.ts";
import { chartYamlMap, goKind } from "./chart-yaml.ts";

/** A chart that another one needs, as `Chart.yaml` or `Chart.lock` names it. */
export interface ChartDependency {
  readonly name: string;
  /** A version or a range; empty for any. */
  readonly version: string;
  /** `https://…`, `oci://…`, `file://…`, or empty for a folder below `charts/`. */
  readonly repository: string;
  readonly alias: string;
  /** As it is written to Chart.yaml, without what Helm does not know. */
  readonly fields: JsonObject;
}

/** `Chart.yaml`, checked as Helm checks it. */
export interface ChartMetadata {
  readonly apiVersion: string;
  readonly name: string;
  readonly version: string;
  readonly dependencies: readonly ChartDependency[];
  /** As it is written to Chart.yaml, without what Helm does not know. */
  readonly fields: JsonObject;
}

const texts = [
  ...["apiVersion", "appVersion", "condition", "description", "home", "icon", "kubeVersion", "name", "tags", "type"],
  "version",
];
const textsOfDependency = ["alias", "condition", "name", "repository", "version"];
const textsOfMaintainer = ["email", "name", "url"];
/** Texts that Helm rids of what cannot be printed. */
const raw: ReadonlySet<string> = new Set(["apiVersion", "version", "type", "alias"]);

/**
 * Reads `Chart.yaml` with the dependencies of `requirements.yaml`, which version 1 of charts has in a file of its own. Throws a
 * `RangeError` with Helm's text for a file that cannot be read. {@link checkMetadata} looks at what it holds.
 */
export function readMetadata(chartYaml: Uint8Array, requirements: Uint8Array | undefined): ChartMetadata {
  const own = loaded("Chart.yaml", () => metadataFields(chartYamlMap(chartYaml)));
  const more =
    requirements === undefined || requirements.length === 0
      ? {}
      : loaded("requirements.yaml", () => metadataFields(chartYamlMap(requirements)));
  const fields: JsonObject = { ...own, ...more };
  const apiVersion = textOf(fields, "apiVersion");
  return {
    apiVersion: apiVersion === "" ? "v1" : apiVersion,
    name: textOf(fields, "name"),
    version: textOf(fields, "version"),
    dependencies: dependenciesOf(fields),
    fields: { ...fields, apiVersion: apiVersion === "" ? "v1" : apiVersion },
  };
}

/** The dependencies that `Chart.lock` or `requirements.lock` holds, and the lock as it is written. Throws a `RangeError`. */
export function readLock(
  file: string,
  bytes: Uint8Array,
): { readonly dependencies: readonly ChartDependency[]; readonly fields: JsonObject } {
  return loaded(file, () => {
    const lock = chartYamlMap(bytes);
    const dependencies = list(lock, "Lock", "dependencies", dependencyFields) ?? [];
    const fields = {
      dependencies,
      digest: text(lock, "Lock", "digest") ?? "",
      generated: text(lock, "Lock", "generated") ?? "0001-01-01T00:00:00Z",
    };
    return { dependencies: dependenciesOf(fields), fields };
  });
}

function loaded<Read>(file: string, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw new RangeError(`cannot load '${file}': ${error.message}`, { cause: error });
    throw error;
  }
}

/** Throws a `RangeError` with Helm's text unless this may be the metadata of a chart. */
export function checkMetadata({ dependencies, fields, name, version }: ChartMetadata): void {
  const invalid = (why: string): RangeError => new RangeError(`validation: ${why}`);
  if (name === "") throw invalid("chart.metadata.name is required");
  if (name === "." || name === "..") throw invalid(`chart.metadata.name ${JSON.stringify(name)} is not allowed`);
  if (/[/\\\0]/.test(name)) throw invalid(`chart.metadata.name ${JSON.stringify(name)} is invalid`);
  if (version === "") throw invalid("chart.metadata.version is required");
  if (readSemver(version) === undefined)
    throw invalid(`chart.metadata.version ${JSON.stringify(version.slice(0, 256))} is invalid`);
  if (!["", "application", "library"].includes(textOf(fields, "type")))
    throw invalid("chart.metadata.type must be application or library");
  const seen = new Set<string>();
  for (const dependency of dependencies) {
    const { alias } = dependency;
    if (alias !== "" && !/^[a-zA-Z0-9_-]+$/.test(alias))
      throw invalid(`dependency ${JSON.stringify(dependency.name)} has disallowed characters in the alias`);
    const key = alias === "" ? dependency.name : alias;
    if (seen.has(key)) throw invalid(`more than one dependency with name or alias ${JSON.stringify(key)}`);
    seen.add(key);
  }
}

function metadataFields(map: JsonObject): JsonObject {
  const type = "Metadata";
  return known({
    ...textFields(map, type, texts),
    annotations: stringMap(map, type, "annotations"),
    dependencies: list(map, type, "dependencies", dependencyFields),
    deprecated: map["deprecated"] === true ? true : undefined,
    keywords: list(map, type, "keywords", (item) => elementText(item, "Metadata.keywords")),
    maintainers: list(map, type, "maintainers", (item) =>
      known(textFields(asMap(item), "Maintainer", textsOfMaintainer)),
    ),
    sources: list(map, type, "sources", (item) => elementText(item, "Metadata.sources")),
  });
}

function dependencyFields(item: Json): JsonObject {
  if (item === null) throw new RangeError("validation: dependencies must not contain empty or null nodes");
  const map = asMap(item);
  const values = map["import-values"] ?? null;
  return {
    name: "",
    repository: "",
    ...known({
      ...textFields(map, "Dependency", textsOfDependency),
      enabled: map["enabled"] === true ? true : undefined,
      "import-values": isJsonList(values) && values.length > 0 ? values : undefined,
      tags: list(map, "Dependency", "tags", (tag) => elementText(tag, "Dependency.tags")),
    }),
  };
}

function dependenciesOf({ dependencies = [] }: JsonObject): readonly ChartDependency[] {
  return (isJsonList(dependencies) ? dependencies : []).filter(isJsonObject).map((fields) => ({
    name: textOf(fields, "name"),
    version: textOf(fields, "version"),
    repository: textOf(fields, "repository"),
    alias: textOf(fields, "alias"),
    fields,
  }));
}

function textOf(fields: JsonObject, name: string): string {
  const value = fields[name];
  return typeof value === "string" ? value : "";
}

function textFields(map: JsonObject, type: string, names: readonly string[]): { [field: string]: Json | undefined } {
  return Object.fromEntries(
    names.map((name) => {
      const value = text(map, type, name);
      return [name, value === undefined || raw.has(name) ? value : printable(value)];
    }),
  );
}

/** As Go writes a number where a text is wanted: `1.10` is `1.1`. */
function text(map: JsonObject, type: string, name: string): string | undefined {
  const value = map[name];
  if (value === undefined || value === null) return undefined;
  return scalarText(value) ?? wrong(value, `${type}.${name}`, "string");
}

function scalarText(value: Json): string | undefined {
  return typeof value === "string" ||
    typeof value === "boolean" ||
    typeof value === "number" ||
    typeof value === "bigint"
    ? String(value)
    : undefined;
}

function elementText(item: Json, field: string): string {
  return item === null ? "" : printable(scalarText(item) ?? wrong(item, field, "string"));
}

function list(map: JsonObject, type: string, name: string, read: (item: Json) => Json): readonly Json[] | undefined {
  const value = map[name];
  if (value === undefined || value === null) return undefined;
  if (!isJsonList(value)) return wrong(value, `${type}.${name}`, "[]string");
  if (value.length > maxListedItems) throw new RangeError(`${name} has more than ${maxListedItems} items`);
  return value.length === 0 ? undefined : value.map(read);
}

/** The limit for each list in Chart.yaml and Chart.lock. */
export const maxListedItems = 1_000;

function stringMap(map: JsonObject, type: string, name: string): JsonObject | undefined {
  const value = map[name];
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) return wrong(value, `${type}.${name}`, "map[string]string");
  const entries = Object.entries(value).map(
    ([key, each]) =>
      [key, each === null ? "" : (scalarText(each) ?? wrong(each, `${type}.${name}`, "string"))] as const,
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function asMap(item: Json): JsonObject {
  return isJsonObject(item) ? item : wrong(item, "Metadata", "Metadata");
}

function wrong(value: Json, field: string, type: string): never {
  const what = `json: cannot unmarshal ${goKind(value)} into Go struct field ${field} of type ${type}`;
  throw new RangeError(`error unmarshaling JSON: while decoding JSON: ${what}`);
}

/** Without what is unset or empty, as Helm writes it. */
function known(fields: { readonly [field: string]: Json | undefined }): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined && entry[1] !== ""),
  );
}

/** White space as spaces, and without what cannot be printed. */
function printable(value: string): string {
  return value.replace(/\s/gu, " ").replace(/[\p{C}\u2028\u2029]/gu, "");
}
