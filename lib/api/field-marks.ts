import { z } from "zod";
import { isJsonObject, type JsonObject } from "../core/json.ts";

/** The size limits of fields. */
interface Limit {
  readonly max: number;
  readonly unit: "items" | "bytes" | "characters";
  /** The amount to compare, from the field's value (undefined if it is not set) and the spec. The default is the value's length. */
  readonly measure?: (value: unknown, spec: JsonObject) => number;
}

/** `isUsed` is a method, so that it may take the type of its own field. */
interface Mark {
  readonly limits?: readonly Limit[];
  isUsed?(value: unknown, spec: JsonObject): boolean;
}

/** The key is the schema in the object. Methods such as `describe` and `exactOptional` make a new schema, so mark their result. */
const marks = new WeakMap<z.ZodType, Mark>();

/**
 * Marks a field that the API accepts and Sluice does not honour yet: {@link unsupportedFields} names it if it is used. Such a field is
 * never ignored silently, since it may protect something. Remove the mark once the field is built.
 *
 * @param isUsed whether a value asks for anything; by default every value except an empty text, list or mapping
 */
export function notYet<Schema extends z.ZodType>(
  schema: Schema,
  isUsed: (value: Exclude<z.output<Schema>, undefined>, spec: JsonObject) => boolean = isSet,
): Schema {
  marks.set(schema, { ...marks.get(schema), isUsed });
  return schema;
}

/** Limits a field. The schema does not check the limit: {@link overLimits} does, and names all exceeded limits at once. */
export function limited<Schema extends z.ZodType>(schema: Schema, ...limits: readonly Limit[]): Schema {
  marks.set(schema, { ...marks.get(schema), limits });
  return schema;
}

/** The fields of a spec that are in use and marked with {@link notYet}, for example `spec.verify`. */
export function unsupportedFields(schema: z.ZodType, spec: object): readonly string[] {
  return markedValues(schema, spec).flatMap(({ mark, field, value, all }) =>
    value !== undefined && mark.isUsed?.(value, all) === true ? [field] : [],
  );
}

/** One text for each exceeded limit of a spec: `spec.images: has 1001 items, 1000 are allowed`. */
export function overLimits(schema: z.ZodType, spec: object): readonly string[] {
  return markedValues(schema, spec).flatMap(({ mark, field, value, all }) =>
    (mark.limits ?? []).flatMap(({ max, unit, measure }) => {
      const found = measure === undefined ? lengthOf(value) : measure(value, all);
      return found > max ? [`${field}: has ${found} ${unit}, ${max} are allowed`] : [];
    }),
  );
}

/** Whether a value asks for anything: an empty text, list or mapping does not. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== "" && (typeof value !== "object" || lengthOf(value) > 0);
}

function lengthOf(value: unknown): number {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : 0;
}

/** A marked field of a schema; `[]` in its path stands for every item of a list. */
interface MarkedField {
  readonly path: readonly string[];
  readonly mark: Mark;
}

const markedFieldsOf = new WeakMap<z.ZodType, readonly MarkedField[]>();

function markedValues(schema: z.ZodType, spec: object) {
  let fields = markedFieldsOf.get(schema);
  if (fields === undefined) {
    fields = markedFields(schema, []);
    markedFieldsOf.set(schema, fields);
  }
  const all: JsonObject = isJsonObject(spec) ? spec : {};
  return fields.flatMap(({ path, mark }) =>
    valuesAt(all, path, "spec").map(({ field, value }) => ({ mark, field, value, all })),
  );
}

function markedFields(schema: unknown, path: readonly string[]): readonly MarkedField[] {
  if (!(schema instanceof z.ZodType)) return [];
  const mark = marks.get(schema);
  return [...(mark === undefined ? [] : [{ path, mark }]), ...fieldsInside(schema, path)];
}

function fieldsInside(schema: z.ZodType, path: readonly string[]): readonly MarkedField[] {
  if (schema instanceof z.ZodExactOptional || schema instanceof z.ZodDefault)
    return markedFields(schema.unwrap(), path);
  if (schema instanceof z.ZodArray) return markedFields(schema.element, [...path, "[]"]);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) => markedFields(field, [...path, name]));
}

function valuesAt(
  value: unknown,
  [name, ...rest]: readonly string[],
  field: string,
): readonly { readonly field: string; readonly value: unknown }[] {
  if (name === undefined) return [{ field, value }];
  if (name !== "[]") return valuesAt(isJsonObject(value) ? value[name] : undefined, rest, `${field}.${name}`);
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown, index) => valuesAt(item, rest, `${field}[${index}]`));
}
