import type { ApiObject } from "../core/api-object.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";

export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format: string;
  /** 0 is always shown, above only with `-o wide`. */
  readonly priority: number;
}

/** How a kind looks as a Table. `now` is for ages. */
export interface Printer {
  readonly columns: readonly Column[];
  readonly cells: (object: ApiObject, now: Date) => readonly Json[];
}

export type IncludeObject = "None" | "Metadata" | "Object";

export function column(name: string, type: Column["type"] = "string", priority = 0, format = ""): Column {
  return { name, type, format, priority };
}

export const nameColumn = column("Name", "string", 0, "name");
export const ageColumn = column("Age");

/** The columns as a Table has them; a description is obligatory, and stays empty. */
export function columnDefinitions(columns: readonly Column[]): readonly JsonObject[] {
  return columns.map(({ name, type, format, priority }) => ({ name, type, format, description: "", priority }));
}

export function metadataText(object: ApiObject, field: "name" | "namespace" | "creationTimestamp"): string {
  const { metadata } = object;
  const value = isJsonObject(metadata) ? metadata[field] : undefined;
  return typeof value === "string" ? value : "";
}
