import { isJsonList, isJsonObject, type Json } from "../../core/json.ts";
import { numberText } from "../../manifests/go-yaml/number.ts";
import { readSemver } from "../semver-version.ts";
import { goList, goObject, goString, goTime, goValue, type JsonBudget, zeroTime } from "./go-json.ts";
import { goTimeFault } from "./go-time-fault.ts";

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

/** How an index is written. In YAML an unknown field is an error, and some scalars can be strings; in JSON neither is so. */
export type IndexFormat = "json" | "yaml";

type Kind = "annotations" | "bool" | "dependencies" | "list" | "maintainers" | "object" | "string" | "strings" | "time";
interface Field {
  readonly kind: Kind;
  /** Helm normalises spaces in it and drops control characters. */
  readonly isClean?: boolean;
  /** Written also if it is empty. */
  readonly isAlways?: boolean;
  /** In YAML a number or boolean counts as text: sigs.k8s.io/yaml finds only fields that are not of an embedded struct. */
  readonly takesScalars?: boolean;
}
type Shape = Readonly<Record<string, Field>>;

// In the order in which Go writes them.
const clean = { kind: "string", isClean: true } as const;
const plain = { kind: "string" } as const;
const own = { kind: "string", takesScalars: true } as const;
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
  urls: { kind: "strings", isAlways: true, takesScalars: true },
  created: { kind: "time", isAlways: true },
  removed: { kind: "bool" },
  digest: own,
  checksum: own,
  engine: own,
  tillerVersion: own,
  url: own,
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
 * be read as an entry at all, for which Flux refuses the whole index, or for JSON above the budget.
 */
export function readChart(value: Json, format: IndexFormat, budget: JsonBudget): ReadChart | undefined {
  if (value === null) return undefined;
  const found = entryFields(value, format);
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
  return { chart, json: write(found, chartShape, "      ", budget) };
}

function entryFields(value: Json, format: IndexFormat): Fields {
  if (!isJsonObject(value)) throw mismatch(value, "IndexFile.entries", "repo.ChartVersion");
  return fieldsOf(value, chartShape, format, chartPath);
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
      throw new RangeError(`json: unknown field ${JSON.stringify(key)}`);
    }
    const read = readField(value[key] ?? null, field, format, pathOf(name, field, of));
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
  { kind, isClean = false, takesScalars = false }: Pick<Field, "isClean" | "kind" | "takesScalars">,
  format: IndexFormat,
  of: string,
): Json | undefined {
  if (value === null) return undefined;
  const string = (one: Json): string => {
    const text = readString(one, format === "yaml" && takesScalars, of);
    return isClean ? sanitized(text) : text;
  };
  switch (kind) {
    case "string":
      return string(value);
    case "time":
      if (typeof value !== "string") throw new RangeError("Time.UnmarshalJSON: input is not a JSON string");
      if (goTime(value) !== undefined) return value;
      throw new RangeError(goTimeFault(value) ?? `parsing time ${JSON.stringify(value)}: cannot parse it`);
    case "bool":
      if (typeof value !== "boolean") throw mismatch(value, of, "bool");
      return value;
    case "object":
      if (!isJsonObject(value)) throw mismatch(value, of, "map[string]interface {}");
      return value;
    case "list":
    case "strings":
      if (!isJsonList(value)) throw mismatch(value, of, kind === "list" ? "[]interface {}" : "[]string");
      return kind === "list" ? value : value.map((one) => (one === null ? "" : string(one)));
    case "annotations":
      if (!isJsonObject(value)) throw mismatch(value, of, "map[string]string");
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, one === null ? "" : string(one)]));
    case "maintainers":
    case "dependencies": {
      const [shape, type] = kind === "maintainers" ? [maintainerShape, "Maintainer"] : [dependencyShape, "Dependency"];
      if (!isJsonList(value)) throw mismatch(value, of, `[]*v2.${type}`);
      const inner = of.replace(/^[^.]*/, type);
      return value.map((one) => (one === null ? null : Object.fromEntries(fieldsOf(one, shape, format, inner))));
    }
  }
}

/** How Go names a field: those of a chart's metadata are of an embedded struct. */
function pathOf(name: string, field: Field, of: string): string {
  if (of !== chartPath) return `${of}.${name}`;
  const isOwn = field.takesScalars === true || ["created", "removed"].includes(name);
  return `${of}${isOwn ? "" : ".Metadata"}.${name}`;
}

const chartPath = "ChartVersion.entries";

function readString(value: Json, takesScalars: boolean, of: string): string {
  if (typeof value === "string") return value;
  if (takesScalars && typeof value === "boolean") return String(value);
  if (takesScalars && (typeof value === "number" || typeof value === "bigint")) return numberText(value);
  throw mismatch(value, of, "string");
}

/** Go's text for a value of another type. */
export function mismatch(value: Json, of: string, type: string): RangeError {
  const what =
    value === null ? "null" : isJsonList(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  return new RangeError(
    `json: cannot unmarshal ${what} into Go ${of === "" ? "value" : `struct field ${of}`} of type ${type}`,
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

function write(fields: Fields, shape: Shape, indent: string, budget: JsonBudget): string {
  const lines: (readonly [string, string])[] = [];
  for (const [name, { kind, isAlways = false }] of Object.entries(shape)) {
    const json = writeValue(fields.get(name), kind, `${indent}  `, budget);
    if (json !== undefined) lines.push([name, json]);
    else if (isAlways) lines.push([name, emptyOf(kind, fields.has(name))]);
  }
  return goObject(lines, indent);
}

/** An empty value as Go writes it: a list that was given is another one than none. */
function emptyOf(kind: Kind, isGiven: boolean): string {
  if (kind === "string") return '""';
  if (kind === "time") return goString(zeroTime);
  return isGiven ? "[]" : "null";
}

/** The JSON of a value; undefined if it is empty. */
function writeValue(value: Json | undefined, kind: Kind, indent: string, budget: JsonBudget): string | undefined {
  if (value === undefined || value === "" || value === false) return undefined;
  if (typeof value === "string") budget.spend(Buffer.byteLength(value));
  if (typeof value === "string") return goString(kind === "time" ? (goTime(value)?.text ?? zeroTime) : value);
  if (value === true || value === null || typeof value !== "object") return String(value);
  if (!isJsonList(value)) return Object.keys(value).length === 0 ? undefined : goValue(value, indent, budget);
  if (value.length === 0) return undefined;
  if (kind !== "maintainers" && kind !== "dependencies") return goValue(value, indent, budget);
  const shape = kind === "maintainers" ? maintainerShape : dependencyShape;
  const items = value.flatMap((one) =>
    isJsonObject(one) ? [write(new Map(Object.entries(one)), shape, `${indent}  `, budget)] : [],
  );
  return goList(items, indent);
}

/** Any space is a space, and what cannot be printed is left out. */
function sanitized(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text.replace(/\p{White_Space}/gu, " ").replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, "");
}
