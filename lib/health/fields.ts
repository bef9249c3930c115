import { isJsonObject } from "../core/json.ts";

/** A condition as any kind may carry it; unlike ours, of foreign make, so every field may be missing. */
export interface ForeignCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

/** Read-only access to the fields of an object of unknown shape. */
export function objectAt(object: unknown, ...path: readonly string[]): { readonly [key: string]: unknown } {
  let value = object;
  for (const key of path) value = isJsonObject(value) ? value[key] : undefined;
  return isJsonObject(value) ? value : {};
}

export function numberAt(fields: { readonly [key: string]: unknown }, key: string, otherwise: number): number {
  const value = fields[key];
  return typeof value === "number" ? value : otherwise;
}

export function conditionsOf(object: unknown): readonly ForeignCondition[] {
  const conditions = objectAt(object, "status")["conditions"];
  if (!Array.isArray(conditions)) return [];
  return conditions.filter(isJsonObject).map((condition) => ({
    type: textOf(condition["type"]),
    status: textOf(condition["status"]),
    reason: textOf(condition["reason"]),
  }));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
