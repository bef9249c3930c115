import { formatJson, type Json } from "./json.ts";

/** A JSON value as text for a message or a name: a string as it is, nothing as the empty text. */
export function plainText(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? formatJson(value) : String(value);
}
