import { isJsonList, isJsonObject, type Json } from "../../core/json.ts";
import { numberText } from "../../manifests/go-yaml/number.ts";
import { readSemver } from "../semver-version.ts";
import { goList, goObject, goString, goTime, goValue, zeroTime } from "./go-json.ts";

/** The index of a Helm repository. */
export interface ChartIndex {
  /** The versions of each chart, newest first. */
  readonly entries: ReadonlyMap<string, readonly IndexedChart[]>;
  /** The whole index in JSON, as Flux stores it. */
  readonly json: Uint8Array;
}

/** One version of a chart, as an index lists it. */
export interface IndexedChart {
  readonly name: string;
  readonly version: string;
  /** When it was packaged, wall time in milliseconds; undefined if the index does not say it. */
  readonly created?: number;
  /** SHA-256 of the archive, as the index spells it. */
  readonly digest?: string;
  /** Where the archive lies: absolute, or relative to the repository. */
  readonly urls: readonly string[];
}

/** A version with its JSON, as Helm's index file writes it. */
export interface ReadChart {
  readonly chart: IndexedChart;
  readonly json: string;
}

/** How an index is written. In YAML an unknown field is an error, and every scalar can be a string; in JSON neither is so. */
export type IndexFormat = "json" | "yaml";

type Kind = "annotations" | "bool" | "dependencies" | "list" | "maintainers" | "object" | "string" | "strings" | "time";
type Shape = Readonly<Record<string, { readonly kind: Kind; readonly isClean?: boolean; readonly isAlways?: boolean }>>;

// In the order in which Go writes them. `isClean`: Helm normalises spaces and drops control characters. `isAlways`: also if empty.
const [clean, plain] = [{ kind: "string", isClean: true } as const, { kind: "string" } as const];
const chartShape: Shape = {
  name: clean,
  home: clean,
  sources: { kind: "strings", isClean: true },
  version: plain,
  description: clean,
  keywords: { kind: "strings", isClean: true },
  maintainers: { kind: "maintainers" },
  icon: clean,
  apiVersion: plain,
  condition: clean,
  tags: clean,
  appVersion: clean,
  deprecated: { kind: "bool" },
  annotations: { kind: "annotations" },
  kubeVersion: clean,
  dependencies: { kind: "dependencies" },
  type: plain,
  urls: { kind: "strings", isAlways: true },
  created: { kind: "time", isAlways: true },
  removed: { kind: "bool" },
  digest: plain,
  checksum: plain,
  engine: plain,
  tillerVersion: plain,
  url: plain,
};
const maintainerShape: Shape = { name: clean, email: clean, url: clean };
const dependencyShape: Shape = {
  name: { ...clean, isAlways: true },
  version: clean,
  repository: { ...clean, isAlways: true },
  condition: clean,
  tags: { kind: "strings", isClean: true },
  enabled: { kind: "bool" },
  "import-values": { kind: "list" },
  alias: plain,
};

/**
 * Reads one version of a chart. Undefined for one that Helm does not accept, which Flux leaves out; a `RangeError` for what cannot
 * be read as an entry at all, for which Flux refuses the whole index.
 */
export function readChart(value: Json, format: IndexFormat): ReadChart | undefined {
  if (value === null) return undefined;
  const found = fieldsOf(value, chartShape, format, "ChartVersion");
  if (textOf(found, "apiVersion") === "") found.set("apiVersion", "v1");
  if (!isValid(found)) return undefined;
  const created = goTime(textOf(found, "created"));
  const digest = textOf(found, "digest");
  const chart = {
    name: textOf(found, "name"),
    version: textOf(found, "version"),
    ...(created === undefined || created.text === zeroTime ? {} : { created: created.at }),
    ...(digest === "" ? {} : { digest }),
    urls: listOf(found, "urls").map(String),
  };
  return { chart, json: write(found, chartShape, "      ") };
}

type Fields = Map<string, Json>;

function textOf(fields: Fields, name: string): string {
  const value = fields.get(name);
  return typeof value === "string" ? value : "";
}

function listOf(fields: Fields, name: string): readonly Json[] {
  const value = fields.get(name) ?? null;
  return isJsonList(value) ? value : [];
}

/** The fields of an object by their names in Go, each of its kind. As Go does, it finds a name in any case. */
function fieldsOf(value: Json, shape: Shape, format: IndexFormat, of: string): Fields {
  if (!isJsonObject(value)) throw mismatch(value, of, "object");
  const found: Fields = new Map();
  for (const key of Object.keys(value)) {
    const name = Object.hasOwn(shape, key) ? key : byLowerCase(shape, key);
    const field = name === undefined ? undefined : shape[name];
    if (name === undefined || field === undefined) {
      if (format === "json") continue;
      throw new RangeError(`unknown field ${JSON.stringify(key)}`);
    }
    const read = readField(value[key] ?? null, field, format, `${of}.${name}`);
    if (read !== undefined) found.set(name, read);
  }
  return found;
}

const lowerCase = new WeakMap<Shape, ReadonlyMap<string, string>>();

function byLowerCase(shape: Shape, key: string): string | undefined {
  const names = lowerCase.get(shape) ?? new Map(Object.keys(shape).map((name) => [name.toLowerCase(), name]));
  lowerCase.set(shape, names);
  return names.get(key.toLowerCase());
}

/** The value of a field by its kind; undefined for null, which leaves the field empty. */
export function readField(
  value: Json,
  { kind, isClean = false }: Shape[string],
  format: IndexFormat,
  of: string,
): Json | undefined {
  if (value === null) return undefined;
  switch (kind) {
    case "string": {
      const text = readString(value, format, of);
      return isClean ? sanitized(text) : text;
    }
    case "time": {
      const text = readString(value, format, of);
      if (goTime(text) === undefined)
        throw new RangeError(`parsing time ${JSON.stringify(text)}: it is not in RFC 3339`);
      return text;
    }
    case "bool":
      if (typeof value !== "boolean") throw mismatch(value, of, "bool");
      return value;
    case "object":
      if (!isJsonObject(value)) throw mismatch(value, of, "map[string]interface {}");
      return value;
    case "list":
    case "strings":
      if (!isJsonList(value)) throw mismatch(value, of, kind === "list" ? "[]interface {}" : "[]string");
      if (kind === "list") return value;
      return value.map((one) => {
        const text = one === null ? "" : readString(one, format, of);
        return isClean ? sanitized(text) : text;
      });
    case "annotations":
      if (!isJsonObject(value)) throw mismatch(value, of, "map[string]string");
      return Object.fromEntries(
        Object.entries(value).map(([key, one]) => [key, one === null ? "" : readString(one, format, of)]),
      );
    case "maintainers":
    case "dependencies": {
      if (!isJsonList(value)) throw mismatch(value, of, "list");
      const shape = kind === "maintainers" ? maintainerShape : dependencyShape;
      return value.map((one) => (one === null ? null : Object.fromEntries(fieldsOf(one, shape, format, of))));
    }
  }
}

function readString(value: Json, format: IndexFormat, of: string): string {
  if (typeof value === "string") return value;
  // sigs.k8s.io/yaml makes a string of a scalar where Go wants one.
  if (format === "yaml" && typeof value === "boolean") return String(value);
  if (format === "yaml" && (typeof value === "number" || typeof value === "bigint")) return numberText(value);
  throw mismatch(value, of, "string");
}

/** Go's text for a value of another type. */
export function mismatch(value: Json, of: string, type: string): RangeError {
  const what =
    value === null ? "null" : isJsonList(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  return new RangeError(
    `cannot unmarshal ${what} into Go ${of === "" ? "value" : `struct field ${of}`} of type ${type}`,
  );
}

/** Whether Helm accepts the metadata of a chart. */
function isValid(found: Fields): boolean {
  const name = textOf(found, "name");
  if (name === "" || name === "." || name === ".." || name.includes("/")) return false;
  if (readSemver(textOf(found, "version")) === undefined) return false;
  if (!["", "application", "library"].includes(textOf(found, "type"))) return false;
  if (listOf(found, "maintainers").includes(null)) return false;
  const names = new Set<string>();
  for (const one of listOf(found, "dependencies")) {
    if (!isJsonObject(one)) return false;
    const dependency: Fields = new Map(Object.entries(one));
    const alias = textOf(dependency, "alias");
    if (alias !== "" && !/^[a-zA-Z0-9_-]+$/.test(alias)) return false;
    const key = alias === "" ? textOf(dependency, "name") : alias;
    // As Flux, which tolerates this one fault and looks no further.
    if (names.has(key)) return true;
    names.add(key);
  }
  return true;
}

function write(fields: Fields, shape: Shape, indent: string): string {
  const lines: (readonly [string, string])[] = [];
  for (const [name, { kind, isAlways = false }] of Object.entries(shape)) {
    const json = writeValue(fields.get(name), kind, `${indent}  `);
    if (json !== undefined) lines.push([name, json]);
    else if (isAlways) lines.push([name, kind === "string" ? '""' : kind === "time" ? `"${zeroTime}"` : "null"]);
  }
  return goObject(lines, indent);
}

/** The JSON of a value; undefined if it is empty. An empty list of URLs is not. */
function writeValue(value: Json | undefined, kind: Kind, indent: string): string | undefined {
  if (value === undefined || value === "" || value === false) return undefined;
  if (typeof value === "string") return goString(kind === "time" ? (goTime(value)?.text ?? zeroTime) : value);
  if (value === true || value === null || typeof value !== "object") return String(value);
  if (!isJsonList(value)) return Object.keys(value).length === 0 ? undefined : goValue(value, indent);
  if (value.length === 0) return undefined;
  if (kind !== "maintainers" && kind !== "dependencies") return goValue(value, indent);
  const shape = kind === "maintainers" ? maintainerShape : dependencyShape;
  const items = value.flatMap((one) =>
    isJsonObject(one) ? [write(new Map(Object.entries(one)), shape, `${indent}  `)] : [],
  );
  return goList(items, indent);
}

/** Any space is a space, and what cannot be printed is left out. */
function sanitized(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text.replace(/\p{White_Space}/gu, " ").replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, "");
}
