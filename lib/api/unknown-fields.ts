import { z } from "zod";
import { isJsonObject } from "../core/json.ts";

/**
 * The fields of a value that its schema does not have, for example `spec.healthChecks[0].since`: a newer release of Flux may have added
 * them. Does not look into mappings with free keys, unions and transformations.
 *
 * @param field the name of the value itself
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
