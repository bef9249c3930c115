import type { z } from "zod";

/** The words for how many of some fields an object has. */
const counts = { one: "exactly one of", "at most one": "at most one of" } as const;

/**
 * An object that has exactly one of these fields, or at most one. The definition says it as Flagger's does, with `oneOf`, so that the API
 * server answers with the same words.
 */
export function having<Schema extends z.ZodObject>(
  count: keyof typeof counts,
  fields: readonly (keyof Schema["shape"] & string)[],
  schema: Schema,
): Schema {
  const each = fields.map((field) => ({ required: [field] }));
  const oneOf = count === "one" ? each : [{ not: { anyOf: each } }, ...each];
  const most = (value: object) => fields.filter((field) => Object.hasOwn(value, field)).length;
  return schema
    .refine((value) => (count === "one" ? most(value) === 1 : most(value) <= 1), {
      message: `must have ${counts[count]} ${fields.join(", ")}`,
    })
    .meta({ oneOf });
}
