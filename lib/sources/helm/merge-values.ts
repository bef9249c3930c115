import { timeSlices } from "../../core/concurrency.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { goYamlText } from "../../manifests/go-yaml/emit.ts";
import { chartYamlMap } from "./chart-yaml.ts";

/** Later values win: maps are merged, anything else is replaced. */
export function mergeMaps(before: JsonObject, after: JsonObject): JsonObject {
  const merged = new Map<string, Json>(Object.entries(before));
  for (const [key, value] of Object.entries(after)) {
    const old = merged.get(key) ?? null;
    merged.set(key, isJsonObject(value) && isJsonObject(old) ? mergeMaps(old, value) : value);
  }
  return Object.fromEntries(merged);
}

/** What `spec.valuesFiles` names, and where it is found. */
export interface ValuesFiles {
  readonly paths: readonly string[];
  readonly ignoreMissing: boolean;
  /** The values of this path, or the bytes of its file; undefined if it is missing. */
  readonly find: (path: string) => JsonObject | Uint8Array | undefined;
  /** Why a missing file is an error. */
  readonly missing: (path: string) => string;
}

/**
 * The values files merged, and those that were found. It lets other work run between two files. Throws a `RangeError` with Flux's
 * text.
 */
export async function mergeValuesFiles(
  { paths, ignoreMissing, find, missing }: ValuesFiles,
  signal: AbortSignal,
): Promise<{ readonly values: JsonObject; readonly found: readonly string[] }> {
  const slices = timeSlices(signal);
  let values: JsonObject = {};
  const found: string[] = [];
  for (const path of paths) {
    if (slices.isOver()) await slices.pause();
    const file = find(path);
    if (file === undefined) {
      if (ignoreMissing) continue;
      throw new RangeError(missing(path));
    }
    values = mergeMaps(values, file instanceof Uint8Array ? readValues(path, file) : file);
    found.push(path);
  }
  return { values, found };
}

function readValues(path: string, bytes: Uint8Array): JsonObject {
  try {
    return chartYamlMap(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RangeError(`unmarshaling values from '${path}' failed: ${error.message}`, { cause: error });
  }
}

/** Values as Helm writes `values.yaml`; nothing for none. What only Go can print is written as JSON, which is YAML too. */
export function valuesText(values: JsonObject): Uint8Array {
  if (Object.keys(values).length === 0) return new Uint8Array();
  return Buffer.from(yamlText(values));
}

/** A map as YAML in Go's form, or as JSON where that form is not certain. */
export function yamlText(map: JsonObject): string {
  return (
    goYamlText(map) ??
    `${JSON.stringify(map, (_key, value: unknown) => (typeof value === "bigint" ? JSON.rawJSON(String(value)) : value))}\n`
  );
}
