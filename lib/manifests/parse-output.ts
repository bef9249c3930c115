import { constructFromEvents, parseEvents, YAMLException } from "js-yaml";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { goSchema } from "./go-yaml/go-schema.ts";
import { maxObjects, tooManyObjects, yamlFault } from "./read-failure.ts";

/** Deeper than any object that the API server accepts. */
export const maxDepth = 200;

/** The objects in the output of the engine, or why Sluice refuses them. */
export type ParsedOutput =
  | { readonly kind: "parsed"; readonly objects: readonly JsonObject[] }
  | { readonly kind: "unacceptable"; readonly why: string };

/** @param what is read, for the message of what is no YAML */
export function parseOutput(text: string, what = "what kustomize printed"): ParsedOutput {
  try {
    const objects: JsonObject[] = [];
    // kustomize prints no aliases: it has expanded those that it read.
    const options = { source: text, schema: goSchema, maxAliases: 0 };
    for (const value of constructFromEvents(parseEvents(text, { maxDepth }), options)) {
      if (value === null) continue;
      if (objects.length >= maxObjects) return { kind: "unacceptable", why: tooManyObjects };
      if (isJsonObject(value)) objects.push(value);
    }
    return { kind: "parsed", objects };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    return { kind: "unacceptable", why: `${what} cannot be read: ${yamlFault(error)}` };
  }
}
