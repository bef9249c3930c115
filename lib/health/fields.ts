import { isJsonObject } from "../core/json.ts";

/** The statuses of kstatus. Health messages contain these words. */
export type Status = "InProgress" | "Failed" | "Current" | "Terminating" | "NotFound" | "Unknown";

/** A condition of an object of any kind. A field that the object lacks is empty. */
export interface ForeignCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** The object at a path of an object of unknown shape; empty if there is none. */
export function objectAt(object: unknown, ...path: readonly string[]): { readonly [key: string]: unknown } {
  let value = object;
  for (const key of path) value = isJsonObject(value) ? value[key] : undefined;
  return isJsonObject(value) ? value : {};
}

export function numberAt(fields: { readonly [key: string]: unknown }, key: string, otherwise: number): number {
  const value = fields[key];
  // The digits past 2^53 of a bigint decide nothing here.
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : otherwise;
}

export function conditionsOf(object: unknown): readonly ForeignCondition[] {
  const conditions = objectAt(object, "status")["conditions"];
  if (!Array.isArray(conditions)) return [];
  return conditions.filter(isJsonObject).map((condition) => ({
    type: textOf(condition["type"]),
    status: textOf(condition["status"]),
    reason: textOf(condition["reason"]),
    message: textOf(condition["message"]),
  }));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
