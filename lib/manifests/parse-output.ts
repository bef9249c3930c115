import { constructFromEvents, parseEvents, YAMLException } from "js-yaml";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { goSchema } from "./go-yaml-schema.ts";
import { maxObjects, tooManyObjects } from "./max-objects.ts";
import { yamlFault } from "./yaml-fault.ts";

/** Deeper than any object that the API server would take. */
export const maxDepth = 200;

/** The objects in what the engine printed, or why Sluice will not have them. */
export type ParsedOutput =
  | { readonly kind: "parsed"; readonly objects: readonly JsonObject[] }
  | { readonly kind: "unacceptable"; readonly why: string };

export function parseOutput(text: string): ParsedOutput {
  try {
    const objects: JsonObject[] = [];
    // kustomize prints none: what it read is expanded by then.
    const options = { source: text, schema: goSchema, maxAliases: 0 };
    for (const value of constructFromEvents(parseEvents(text, { maxDepth }), options)) {
      if (value === null) continue;
      if (objects.length >= maxObjects) return { kind: "unacceptable", why: tooManyObjects };
      const lossy = findLossy(value, "");
      if (lossy !== undefined) return { kind: "unacceptable", why: `${nameOf(value)}: ${lossy}` };
      if (isJson(value) && isJsonObject(value)) objects.push(value);
    }
    return { kind: "parsed", objects };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    return { kind: "unacceptable", why: `what kustomize printed cannot be read: ${yamlFault(error)}` };
  }
}

function findLossy(value: unknown, path: string): string | undefined {
  if (typeof value === "bigint") {
    return `${path}: a number past 2^53 would lose digits: write it as a string if the field takes one`;
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = findLossy(inner, path === "" ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function nameOf(value: unknown): string {
  if (!isJson(value) || !isJsonObject(value)) return "an object";
  const { kind, metadata } = value;
  const name = isJsonObject(metadata) ? metadata["name"] : undefined;
  return `${typeof kind === "string" ? kind : "?"}/${typeof name === "string" ? name : "?"}`;
}

/** The Go schema makes nothing but JSON and big integers. */
function isJson(value: unknown): value is Json {
  return value === null || ["string", "number", "boolean", "object"].includes(typeof value);
}
