import { loadAll, YAMLException } from "js-yaml";
import { type EffectiveSettings, effectiveSettings } from "./effective-settings.ts";

/**
 * Reads a document of settings, YAML or JSON; an empty one gives nothing. Answers the faults of one that cannot be used, each
 * with the key, what is wrong and how to mend it. No value is quoted.
 */
export function readSettings(text: string): EffectiveSettings | { readonly faults: readonly string[] } {
  const documents = parse(text);
  if (documents instanceof YAMLException) {
    return { faults: [`line ${(documents.mark?.line ?? 0) + 1} is not YAML: ${documents.reason}`] };
  }
  if (documents.length > 1) {
    return {
      faults: [`this holds ${documents.length} documents: write all settings in one, without --- between them`],
    };
  }
  return effectiveSettings(documents[0] ?? {});
}

function parse(text: string): readonly unknown[] | YAMLException {
  try {
    return loadAll(text);
  } catch (error) {
    if (error instanceof YAMLException) return error;
    throw error;
  }
}
