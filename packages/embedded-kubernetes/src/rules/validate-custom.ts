import type { ApiObject, FieldError } from "../core/api-object.ts";
import { invalidValue } from "../core/field-errors.ts";
import type { JsonObject } from "../core/json.ts";
import { crdSchema } from "../schema/crd-schema.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { celErrors } from "./cel/cel-errors.ts";
import { schemaErrors } from "./custom/schema-errors.ts";
import { customFinalizerErrors, metadataErrors, metadataUpdateErrors } from "./validation/metadata.ts";
import { dnsSubdomain } from "./validation/name-rules.ts";

export interface CustomValidation {
  readonly object: ApiObject;
  readonly old: ApiObject | undefined;
  /** The version's `schema.openAPIV3Schema` as the definition has it. */
  readonly openAPIV3Schema: JsonObject;
  readonly namespaced: boolean;
  readonly subresource?: string;
}

/** One schema per definition: as long as that is kept, so is this. */
const schemas = new WeakMap<JsonObject, TypeSchema>();

/** Errors of a custom resource: metadata, schema, list types, and where those pass its `x-kubernetes-validations`. */
export function validateCustom({ object, old, openAPIV3Schema, namespaced }: CustomValidation): readonly FieldError[] {
  const schema = schemaOf(openAPIV3Schema);
  const metadata = [
    ...metadataErrors(object, namespaced, dnsSubdomain, customFinalizerErrors),
    ...(old === undefined ? [] : metadataUpdateErrors(object, old)),
  ];
  const structural = schemaErrors(object, schema);
  const rules = structural.some(blocksRules) ? skippedRules(schema) : celErrors(object, old, schema);
  return [...metadata, ...structural, ...rules];
}

const blockingReasons = new Set<FieldError["reason"]>([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

/** Errors of shape, after which a rule might stumble over what it takes for granted. */
function blocksRules({ reason }: FieldError): boolean {
  return blockingReasons.has(reason);
}

/** Where there are rules, the server says that it has not looked at them. */
function skippedRules(schema: TypeSchema): readonly FieldError[] {
  const text =
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
  return hasRules(schema) ? [invalidValue("<nil>", null, text)] : [];
}

function hasRules({ validations = [], properties = {}, items, additionalProperties }: TypeSchema): boolean {
  const inner = [...Object.values(properties), items, additionalProperties];
  return validations.length > 0 || inner.some((schema) => schema !== undefined && hasRules(schema));
}

function schemaOf(openAPIV3Schema: JsonObject): TypeSchema {
  const known = schemas.get(openAPIV3Schema);
  if (known !== undefined) return known;
  const schema = crdSchema(openAPIV3Schema);
  schemas.set(openAPIV3Schema, schema);
  return schema;
}
