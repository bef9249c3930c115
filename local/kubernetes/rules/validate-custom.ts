import type { JsonObject } from "../../../lib/core/json.ts";
import type { ApiObject, FieldError } from "../api-object.ts";
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
  const rules = structural.length === 0 ? celErrors(object, old, schema) : [];
  return [...metadata, ...structural, ...rules];
}

function schemaOf(openAPIV3Schema: JsonObject): TypeSchema {
  const known = schemas.get(openAPIV3Schema);
  if (known !== undefined) return known;
  const schema = crdSchema(openAPIV3Schema);
  schemas.set(openAPIV3Schema, schema);
  return schema;
}
