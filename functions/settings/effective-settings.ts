import { isJsonObject } from "../../lib/core/json.ts";
import { flagOwner, unhonouredFlags } from "./flux-flags.ts";
import { nearestName } from "./nearest-name.ts";
import { Settings } from "./settings.ts";

/** The settings that hold, and where they were given. */
export interface EffectiveSettings {
  readonly values: Settings;
  /** The keys that the document gives; all others have their defaults. */
  readonly given: ReadonlySet<string>;
}

/**
 * The settings of a document that was parsed. Answers the faults of one that cannot be used, each with the key, what is wrong and
 * how to mend it. No value is quoted.
 */
export function effectiveSettings(document: unknown): EffectiveSettings | { readonly faults: readonly string[] } {
  if (!isJsonObject(document)) return { faults: ["this is not a document of settings: write `key: value` lines"] };
  const parsed = Settings.safeParse(document);
  if (parsed.success) return { values: parsed.data, given: new Set(Object.keys(document)) };
  const faults = parsed.error.issues.flatMap((issue) => {
    const { path } = issue;
    if (issue.code !== "unrecognized_keys") return `${path.join(".")} ${issue.message}`;
    return issue.keys.map((key) =>
      path.length === 0 ? unknownKey(key) : `${[...path, key].join(".")} is not a setting`,
    );
  });
  return { faults: [...new Set(faults)] };
}

function unknownKey(key: string): string {
  const named = asFlag(key);
  const flag = [...unhonouredFlags.keys()].find((one) => bare(one) === bare(named));
  if (flag !== undefined) return `${key} is ${unhonoured(flag)}`;
  const near = nearestName(named, [...Object.keys(Settings.shape), ...unhonouredFlags.keys()], asFlag);
  if (near === undefined) return `${key} is not a setting: remove it, or see docs/settings.md for the settings`;
  const is = unhonouredFlags.has(near) ? ` That is ${unhonoured(near)}` : "";
  return `${key} is not a setting: did you mean ${near}?${is}`;
}

function unhonoured(flag: string): string {
  return `a flag of ${flagOwner(flag)} that Sluice does not honour: ${unhonouredFlags.get(flag)}; remove it`;
}

/** As Flux's flags are spelled: `--noRemoteBases`, `no_remote_bases` and the like are `no-remote-bases`. */
function asFlag(key: string): string {
  return key
    .replace(/^-+/, "")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
}

/** What all spellings of a flag have in common: Flux has one in camel case, `receiverAddr`. */
function bare(flag: string): string {
  return flag.replaceAll("-", "").toLowerCase();
}
