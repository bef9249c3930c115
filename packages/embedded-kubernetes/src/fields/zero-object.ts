import type { ApiObject } from "../core/api-object.ts";
import { isJsonObject, type Json } from "../core/json.ts";
import { goStruct } from "../schema/go-types.ts";
import type { TypeSchema } from "../schema/type-schema.ts";

const zeros = new WeakMap<TypeSchema, ApiObject>();

/**
 * What Go writes of a built-in object before anything is set: its plain structs, and null for its obligatory lists.
 * A created object is compared with this, so `f:data` gets an owner and `f:spec` itself does not.
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
