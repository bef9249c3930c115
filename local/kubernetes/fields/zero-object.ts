import { isJsonObject, type Json } from "../../../lib/core/json.ts";
import type { ApiObject } from "../api-object.ts";
import { goStruct } from "../schema/go-types.ts";
import type { TypeSchema } from "../schema/type-schema.ts";

const zeros = new WeakMap<TypeSchema, ApiObject>();

/**
 * What Go writes of a built-in object before anything is set: its plain structs, and null for its obligatory lists.
 * A created object is compared with this, so `f:spec` itself is owned by nobody but `f:data` is.
 */
export function zeroObject(schema: TypeSchema): ApiObject {
  const known = zeros.get(schema);
  if (known !== undefined) return known;
  const entries: [string, Json][] = [];
  for (const [field, property] of Object.entries(schema.properties ?? {})) {
    const zero = zeroField(property, schema.required?.includes(field) === true);
    if (zero !== undefined) entries.push([field, zero]);
  }
  for (const field of goStruct(schema.goType)?.nullWhenUnset ?? []) {
    if (!entries.some(([known]) => known === field)) entries.push([field, null]);
  }
  const object: ApiObject = Object.fromEntries(entries);
  zeros.set(schema, object);
  return object;
}

function zeroField(property: TypeSchema, isRequired: boolean): Json | undefined {
  if (isJsonObject(property.default) && property.properties !== undefined) return zeroObject(property);
  if (!isRequired) return undefined;
  return property.type === "array" ? null : property.default;
}
