import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { namedType } from "./type-names.ts";
import type { TypeSchema } from "./type-schema.ts";

/** The words of a CRD's schema that say the same under their own or a shorter name. */
const words: Readonly<Record<string, string>> = {
  type: "type",
  required: "required",
  default: "default",
  enum: "enum",
  format: "format",
  nullable: "nullable",
  minimum: "minimum",
  maximum: "maximum",
  exclusiveMinimum: "exclusiveMinimum",
  exclusiveMaximum: "exclusiveMaximum",
  multipleOf: "multipleOf",
  minLength: "minLength",
  maxLength: "maxLength",
  pattern: "pattern",
  minItems: "minItems",
  maxItems: "maxItems",
  uniqueItems: "uniqueItems",
  minProperties: "minProperties",
  maxProperties: "maxProperties",
  "x-kubernetes-list-type": "listType",
  "x-kubernetes-list-map-keys": "mapKeys",
  "x-kubernetes-map-type": "mapType",
  "x-kubernetes-int-or-string": "intOrString",
  "x-kubernetes-preserve-unknown-fields": "preserveUnknown",
  "x-kubernetes-embedded-resource": "embeddedResource",
  "x-kubernetes-validations": "validations",
};

/**
 * The type of a custom resource from `spec.versions[].schema.openAPIV3Schema`, with the metadata every object has.
 * Rules that the schema puts on metadata are not kept: metadata has the built-in type.
 */
export function crdSchema(openAPIV3Schema: JsonObject): TypeSchema {
  const schema = typeOf(openAPIV3Schema, false);
  return { ...schema, type: "object", properties: { ...schema.properties, ...objectProperties() } };
}

function objectProperties(): Record<string, TypeSchema> {
  return { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: namedType("apis.meta.v1.ObjectMeta") };
}

function typeOf(raw: Json, isBelowOpen: boolean): TypeSchema {
  if (!isJsonObject(raw)) return {};
  const isOpen = isBelowOpen || raw["x-kubernetes-preserve-unknown-fields"] === true;
  const result: Record<string, unknown> = {};
  for (const [word, value] of Object.entries(raw)) {
    const name = words[word];
    if (name !== undefined) result[name] = value;
  }
  const { additionalProperties, items, not } = raw;
  return {
    ...result,
    ...(isBelowOpen ? { holdsUnknown: true } : {}),
    ...propertiesOf(raw, isOpen),
    ...(additionalProperties === undefined || additionalProperties === false
      ? {}
      : {
          additionalProperties:
            additionalProperties === true ? { preserveUnknown: true } : typeOf(additionalProperties, isOpen),
        }),
    ...(items === undefined ? {} : { items: typeOf(items, isOpen) }),
    ...(not === undefined ? {} : { not: typeOf(not, isOpen) }),
    ...listOf("allOf", raw),
    ...listOf("anyOf", raw),
    ...listOf("oneOf", raw),
  };
}

/** An embedded resource has the metadata of any object, whether its schema says so or not. */
function propertiesOf(raw: JsonObject, isOpen: boolean): Pick<TypeSchema, "properties"> {
  const { properties } = raw;
  const isEmbedded = raw["x-kubernetes-embedded-resource"] === true;
  if (!isJsonObject(properties)) return isEmbedded ? { properties: objectProperties() } : {};
  const own = Object.fromEntries(Object.entries(properties).map(([field, type]) => [field, typeOf(type, isOpen)]));
  return { properties: isEmbedded ? { ...own, ...objectProperties() } : own };
}

function listOf(word: "allOf" | "anyOf" | "oneOf", raw: JsonObject): Record<string, readonly TypeSchema[]> {
  const list = raw[word];
  return Array.isArray(list) ? { [word]: list.map((item: Json) => typeOf(item, false)) } : {};
}
