import { dump } from "js-yaml";
import { unlistedAt } from "../../lib/core/network/network-policy.ts";
import type { EffectiveSettings } from "./effective-settings.ts";
import type { Settings } from "./settings.ts";

/**
 * The settings that hold, as a document that can be used as it is; above each a comment says where it comes from.
 *
 * @param file where they were read from, if anywhere
 */
export function printSettings({ values, given }: EffectiveSettings, file: string | undefined): string {
  return Object.entries(values)
    .map(([key, value]) => {
      const origin = file !== undefined && given.has(key) ? `from ${file}` : "default";
      return `# ${origin}\n${dump({ [key]: value })}${key === "network" ? unlistedDefault(values) : ""}`;
    })
    .join("");
}

/** A comment: the default is another in each place, and written as a value it would hold in the other one as well. */
function unlistedDefault({ network: { unlisted } }: Settings): string {
  if (unlisted !== undefined) return "";
  return `  # default of unlisted: ${unlistedAt.functions} in functions, ${unlistedAt.home} with sluice local\n`;
}
