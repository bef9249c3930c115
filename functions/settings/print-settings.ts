import { dump } from "js-yaml";
import type { EffectiveSettings } from "./read-settings.ts";

/**
 * The settings that hold, as a document that can be used as it is; above each a comment says where it comes from.
 *
 * @param file where they were read from, if anywhere
 */
export function printSettings({ values, given }: EffectiveSettings, file: string | undefined): string {
  return Object.entries(values)
    .map(([key, value]) => {
      const origin = file !== undefined && given.has(key) ? `from ${file}` : "default";
      return `# ${origin}\n${dump({ [key]: value })}`;
    })
    .join("");
}
