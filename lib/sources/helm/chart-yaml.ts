import { constructFromEvents, EVENT_ID, parseEvents, YAMLException } from "js-yaml";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { refuseAliasBomb } from "../../manifests/alias-bomb.ts";
import { goSchema } from "../../manifests/go-yaml/go-schema.ts";
import { goYamlFault } from "../../manifests/go-yaml/go-yaml-fault.ts";
import { maxDepth } from "../../manifests/read-document.ts";
import { Unacceptable, yamlFault } from "../../manifests/read-failure.ts";

/** The limit for one YAML file of a chart: Chart.yaml, Chart.lock, requirements.yaml, values.yaml and each values file. */
export const maxChartYamlBytes = 512 * 1024;

/**
 * The documents of a YAML file as Helm reads it, by Go's YAML 1.1: `yes` is true, `0644` is 420, a key that is there twice has its last
 * value. Throws a `RangeError` that says what is wrong with the text, without quoting it.
 */
export function chartYaml(bytes: Uint8Array): readonly Json[] {
  if (bytes.length > maxChartYamlBytes) throw new RangeError(`it has more than ${maxChartYamlBytes} bytes`);
  const text = new TextDecoder().decode(bytes);
  try {
    const events = parseEvents(text, { maxDepth });
    refuseAliasBomb(events, { text, line: 1 });
    if (events.every(({ type }) => type === EVENT_ID.DOCUMENT || type === EVENT_ID.POP)) return [];
    return constructFromEvents(events, { source: text, schema: goSchema, json: true, maxAliases: -1 }).map(jsonOf);
  } catch (error) {
    if (error instanceof YAMLException) {
      const line = error.mark === undefined ? "" : `line ${error.mark.line + 1}: `;
      const what = goYamlFault(error, text) ?? `${line}${yamlFault(error)}`;
      throw new RangeError(`error converting YAML to JSON: yaml: ${what}`, { cause: error });
    }
    if (error instanceof Unacceptable) {
      throw new RangeError(`error converting YAML to JSON: yaml: line ${error.line}: ${error.message}`, {
        cause: error,
      });
    }
    throw error;
  }
}

/** The first document as a map; empty for an empty file. Throws a `RangeError`. */
export function chartYamlMap(bytes: Uint8Array): JsonObject {
  return mapOf(chartYaml(bytes)[0]);
}

/** A document as a map; `null` counts as an empty one. Throws a `RangeError` with the text of Go's JSON reader. */
export function mapOf(document: Json | undefined): JsonObject {
  if (document === undefined || document === null) return {};
  if (isJsonObject(document)) return document;
  const kind = isJsonList(document) ? "array" : typeof document === "string" ? "string" : goKind(document);
  throw new RangeError(
    `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
  );
}

/** The kind of a JSON value in the words of Go's JSON reader. */
export function goKind(value: Json): "array" | "bool" | "null" | "number" | "object" | "string" {
  if (value === null) return "null";
  if (isJsonList(value)) return "array";
  if (typeof value === "bigint" || typeof value === "number") return "number";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : "object";
}

/** JSON, shared where an alias stands; null for what JSON does not have. */
function jsonOf(value: unknown): Json {
  return isJson(value) ? value : null;
}

/** js-yaml with this schema makes only values that JSON has, if the whole has one of these types. */
function isJson(value: unknown): value is Json {
  return value === null || ["bigint", "boolean", "number", "object", "string"].includes(typeof value);
}
