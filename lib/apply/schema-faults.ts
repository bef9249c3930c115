import { equal } from "../core/equal.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";

/**
 * What an object has that the schema of its definition does not allow: fields of the wrong type, missing or unknown ones,
 * values out of an enum. A first look only, for an object whose definition comes with the same artifact; the API server
 * has the last word when the definition is there. Pure.
 *
 * @param schema `openAPIV3Schema` of the object's version
 * @returns one text a fault, `spec.size: must be of type integer`
 */
export function schemaFaults(object: JsonObject, schema: JsonObject): readonly string[] {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...content } = object;
  const required = Array.isArray(schema["required"]) ? schema["required"].filter((name) => !isHead(name)) : [];
  return faultsOf(content, { ...schema, required }, "");
}

function isHead(name: unknown): boolean {
  return name === "apiVersion" || name === "kind" || name === "metadata";
}

function faultsOf(value: unknown, schema: JsonObject, path: string): readonly string[] {
  if (value === null || value === undefined) return [];
  if (schema["x-kubernetes-int-or-string"] === true) {
    return typeof value === "string" || Number.isInteger(value) ? [] : [`${path}: must be an integer or a string`];
  }
  const { type } = schema;
  if (typeof type === "string" && !isOfType(value, type)) return [`${path}: must be of type ${type}`];
  const allowed = schema["enum"];
  if (Array.isArray(allowed) && !allowed.some((each) => equal(each, value))) {
    return [`${path}: must be one of ${allowed.map((each) => JSON.stringify(each)).join(", ")}`];
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    return isJsonObject(items) ? value.flatMap((item, index) => faultsOf(item, items, `${path}[${index}]`)) : [];
  }
  return isJsonObject(value) ? objectFaults(value, schema, path) : [];
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isJsonObject(value);
    default:
      return typeof value === type;
  }
}

function objectFaults(object: JsonObject, schema: JsonObject, path: string): readonly string[] {
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const { additionalProperties, required } = schema;
  const isOpen = schema["x-kubernetes-preserve-unknown-fields"] === true || additionalProperties === true;
  const missing = Array.isArray(required)
    ? required.filter((name) => typeof name === "string" && object[name] === undefined)
    : [];
  const faults = Object.entries(object).flatMap(([name, field]) => {
    const property = properties[name] ?? additionalProperties;
    if (isJsonObject(property)) return faultsOf(field, property, at(name));
    return isOpen || schema["properties"] === undefined ? [] : [`${at(name)}: field not declared in schema`];
  });
  return [...missing.map((name) => `${at(String(name))}: is required`), ...faults];
}
