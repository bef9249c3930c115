import { cutText } from "../core/cut-text.ts";
import { equal, formatJson, isJsonObject, type JsonObject } from "../core/json.ts";

/** Faults that are listed for one object. The API server reports the other faults. */
export const maxSchemaFaults = 20;
/** Values of an enum that is checked here. Longer enums are left to the API server, since checking many values takes long. */
export const maxEnumValues = 200;
const maxQuotedBytes = 500;

/**
 * The faults of an object by the schema of its definition: fields of the wrong type, missing or unknown ones, values outside an enum. A
 * first check only, for an object whose definition comes with the same artifact; the API server decides once the definition exists. Pure.
 *
 * @param schema `openAPIV3Schema` of the object's version
 * @returns one text a fault, `spec.size: must be of type integer`, of at most {@link maxSchemaFaults}
 */
export function schemaFaults(object: JsonObject, schema: JsonObject): readonly string[] {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...content } = object;
  const required = Array.isArray(schema["required"]) ? schema["required"].filter((name) => !isHead(name)) : [];
  const faults: string[] = [];
  for (const [path, why] of faultsOf(content, { ...schema, required }, "")) {
    faults.push(`${cutText(path, maxQuotedBytes)}: ${cutText(why, maxQuotedBytes)}`);
    if (faults.length >= maxSchemaFaults) break;
  }
  return faults;
}

/** The path to a field, and what is wrong with it. */
type Fault = readonly [path: string, why: string];

function isHead(name: unknown): boolean {
  return name === "apiVersion" || name === "kind" || name === "metadata";
}

function* faultsOf(value: unknown, schema: JsonObject, path: string): Generator<Fault, void, undefined> {
  if (value === null || value === undefined) return;
  if (schema["x-kubernetes-int-or-string"] === true) {
    if (typeof value !== "string" && !isInteger(value)) yield [path, "must be an integer or a string"];
    return;
  }
  const { type } = schema;
  if (typeof type === "string" && !isOfType(value, type)) {
    yield [path, `must be of type ${type}`];
    return;
  }
  const allowed = schema["enum"];
  const isJudged = Array.isArray(allowed) && allowed.length <= maxEnumValues;
  if (isJudged && !allowed.some((each) => equal(each, value))) {
    yield [path, `must be one of ${allowed.map((each) => formatJson(each)).join(", ")}`];
    return;
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!isJsonObject(items)) return;
    for (const [index, item] of value.entries()) yield* faultsOf(item, items, `${path}[${index}]`);
    return;
  }
  if (isJsonObject(value)) yield* objectFaults(value, schema, path);
}

function isInteger(value: unknown): boolean {
  return typeof value === "bigint" || Number.isInteger(value);
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "integer":
      return isInteger(value);
    case "number":
      return typeof value === "number" || typeof value === "bigint";
    case "array":
      return Array.isArray(value);
    case "object":
      return isJsonObject(value);
    default:
      return typeof value === type;
  }
}

function* objectFaults(object: JsonObject, schema: JsonObject, path: string): Generator<Fault, void, undefined> {
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const { additionalProperties, required } = schema;
  const isOpen = schema["x-kubernetes-preserve-unknown-fields"] === true || additionalProperties === true;
  for (const name of Array.isArray(required) ? required : []) {
    if (typeof name === "string" && object[name] === undefined) yield [at(name), "is required"];
  }
  for (const [name, field] of Object.entries(object)) {
    const property = properties[name] ?? additionalProperties;
    if (isJsonObject(property)) yield* faultsOf(field, property, at(name));
    else if (!isOpen && schema["properties"] !== undefined) yield [at(name), "field not declared in schema"];
  }
}
