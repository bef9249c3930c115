import type { ApiObject } from "../api-object.ts";
import type { TypeSchema } from "../schema/type-schema.ts";

/** The paths that the schema does not know, as a strict decoding error names them (`spec.x`, `spec.ports[0].y`). */
export function unknownFields(_object: ApiObject, _schema: TypeSchema): readonly string[] {
  return [];
}
