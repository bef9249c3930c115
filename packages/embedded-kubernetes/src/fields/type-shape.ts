import { isJsonObject, type Json } from "../core/json.ts";
import type { TypeSchema } from "../schema/type-schema.ts";

export type Shape = "map" | "list" | "scalar";

/** What stands below a field that keeps unknown ones: maps are granular, lists atomic. */
const openType: TypeSchema = { preserveUnknown: true };

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** How a value of this type is merged: as the type says, or for an untyped one as the value looks. */
export function shapeOf(schema: TypeSchema, value: Json | undefined): Shape {
  if (schema.type === "object") return "map";
  if (schema.type === "array") return "list";
  if (schema.type !== undefined || schema.intOrString === true || schema.quantity === true) return "scalar";
  if (isList(value)) return "list";
  return value === undefined || value === null || isJsonObject(value) ? "map" : "scalar";
}

/** Whether the value is one field, replaced and owned whole. */
export function isAtomic(schema: TypeSchema, shape: Shape): boolean {
  switch (shape) {
    case "map":
      return schema.mapType === "atomic" || (schema.type === undefined && !isOpen(schema));
    case "list":
      return schema.listType !== "map" && schema.listType !== "set";
    case "scalar":
      return true;
  }
}

/** The type of a field, `undefined` where the schema declares none of that name. */
export function fieldType(schema: TypeSchema, field: string): TypeSchema | undefined {
  if (isDeclared(schema, field)) return schema.properties?.[field];
  return schema.additionalProperties ?? (isOpen(schema) ? openType : undefined);
}

export function isDeclared(schema: TypeSchema, field: string): boolean {
  return schema.properties !== undefined && Object.hasOwn(schema.properties, field);
}

export function itemType(schema: TypeSchema): TypeSchema {
  return schema.items ?? {};
}

function isOpen(schema: TypeSchema): boolean {
  if (schema.preserveUnknown === true || schema.holdsUnknown === true) return true;
  return schema.type === "object" && schema.properties === undefined && schema.additionalProperties === undefined;
}
