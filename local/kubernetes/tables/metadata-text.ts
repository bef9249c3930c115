import { isJsonObject } from "../../../lib/core/json.ts";
import type { ApiObject } from "../api-object.ts";

export function metadataText(object: ApiObject, field: "name" | "namespace" | "creationTimestamp"): string {
  const { metadata } = object;
  const value = isJsonObject(metadata) ? metadata[field] : undefined;
  return typeof value === "string" ? value : "";
}
