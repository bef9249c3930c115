import { isJsonObject } from "../core/json.ts";
import { objectAt } from "./fields.ts";

/**
 * Why kstatus cannot read the generation that an object's controller has observed, in the words of Go's accessors; undefined if it can.
 * Flux counts such an object as Unknown, which it stays until the timeout.
 */
export function unreadableGeneration(object: { readonly [key: string]: unknown }): string | undefined {
  const status = object["status"] ?? undefined;
  if (status === undefined) return undefined;
  const failed = (value: unknown, expected: string) =>
    `looking up status.observedGeneration from resource: .status.observedGeneration accessor error: ${goText(value)} is of the type ${goType(value)}, expected ${expected}`;
  if (!isJsonObject(status)) return failed(status, "map[string]interface{}");
  if (!("observedGeneration" in status)) return undefined;
  const observed = status["observedGeneration"];
  return isInteger(observed) ? undefined : failed(observed, "int64");
}

/** The same for its conditions: all of them are read, whatever their types. */
export function unreadableConditions(object: { readonly [key: string]: unknown }): string | undefined {
  const status = object["status"] ?? undefined;
  if (status === undefined) return undefined;
  if (!isJsonObject(status)) return `cannot restore struct from: ${goKind(status)}`;
  const conditions = status["conditions"] ?? undefined;
  if (conditions === undefined) return undefined;
  if (!Array.isArray(conditions)) return `cannot restore slice from ${goKind(conditions)}`;
  return conditions.map(unreadableCondition).find((fault) => fault !== undefined);
}

const textFields = { type: "string", status: "v1.ConditionStatus", reason: "string", message: "string" } as const;

function unreadableCondition(condition: unknown): string | undefined {
  if (condition === null) return undefined;
  if (!isJsonObject(condition)) return `cannot restore struct from: ${goKind(condition)}`;
  const wrong = Object.entries(textFields).find(([field]) => typeof (condition[field] ?? "") !== "string");
  if (wrong === undefined) return undefined;
  const [field, type] = wrong;
  // Go has a conversion from integers to text, which is not used here, and none from the others.
  return isInteger(condition[field]) ? `cannot convert int64 to ${type}` : "unrecognized type: string";
}

function isInteger(value: unknown): boolean {
  return typeof value === "bigint" || Number.isInteger(value);
}

/** As `%T` shows it. */
function goType(value: unknown): string {
  const kind = goKind(value);
  if (kind === "map") return "map[string]interface {}";
  return kind === "slice" ? "[]interface {}" : kind;
}

function goKind(value: unknown): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "slice";
  if (isInteger(value)) return "int64";
  if (typeof value === "number") return "float64";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : "map";
}

/** As `%v` shows it. */
function goText(value: unknown): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  const fields = Object.entries(objectAt(value)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `map[${fields.map(([name, field]) => `${name}:${goText(field)}`).join(" ")}]`;
}
