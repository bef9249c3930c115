import { z } from "zod";
import { isJsonObject } from "../core/json.ts";

/**
 * The fields of a value that its schema does not have, for example `spec.healthChecks[0].since`: a release of Flux that is newer than the
 * schema may have served them. What a mapping with any keys, a union or a transformation holds is not looked at.
 *
 * @param field how the value itself is called
 */
export function unknownFields(schema: unknown, value: unknown, field: string): readonly string[] {
  if (schema instanceof z.ZodExactOptional || schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return unknownFields(schema.unwrap(), value, field);
  }
  if (schema instanceof z.ZodArray) {
    if (!Array.isArray(value)) return [];
    return value.flatMap((item: unknown, index) => unknownFields(schema.element, item, `${field}[${index}]`));
  }
  if (!(schema instanceof z.ZodObject) || schema.def.catchall !== undefined || !isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    Object.hasOwn(schema.shape, name)
      ? unknownFields(schema.shape[name], part, `${field}.${name}`)
      : [`${field}.${name}`],
  );
}
