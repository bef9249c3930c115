import { loadAll, YAMLException } from "js-yaml";
import { isJsonObject } from "../../lib/core/json.ts";
import { unhonouredFlags } from "./flux-flags.ts";
import { Settings } from "./settings.ts";

/** The settings that hold, and where they were given. */
export interface EffectiveSettings {
  readonly values: Settings;
  /** The keys that the document gives; all others have their defaults. */
  readonly given: ReadonlySet<string>;
}

/**
 * Reads a document of settings, YAML or JSON; an empty one gives nothing. Answers the faults of one that cannot be used, each
 * with the key, what is wrong and how to mend it. No value is quoted.
 */
export function readSettings(text: string): EffectiveSettings | { readonly faults: readonly string[] } {
  const documents = parse(text);
  if (documents instanceof YAMLException) {
    return { faults: [`line ${(documents.mark?.line ?? 0) + 1} is no YAML: ${documents.reason}`] };
  }
  if (documents.length > 1) {
    return {
      faults: [`this holds ${documents.length} documents: write all settings in one, without --- between them`],
    };
  }
  const document = documents[0] ?? {};
  if (!isJsonObject(document)) return { faults: ["this is no document of settings: write `key: value` lines"] };
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

function parse(text: string): readonly unknown[] | YAMLException {
  try {
    return loadAll(text);
  } catch (error) {
    if (error instanceof YAMLException) return error;
    throw error;
  }
}

function unknownKey(key: string): string {
  const named = asFlag(key);
  const flag = [...unhonouredFlags.keys()].find((one) => bare(one) === bare(named));
  if (flag !== undefined) return `${key} is ${unhonoured(flag)}`;
  const near = nearest(named);
  if (near === undefined) return `${key} is not a setting: remove it, or see docs/settings.md for what there is`;
  const is = unhonouredFlags.has(near) ? ` That is ${unhonoured(near)}` : "";
  return `${key} is not a setting: did you mean ${near}?${is}`;
}

function unhonoured(flag: string): string {
  return `a flag of Flux that Sluice does not honour: ${unhonouredFlags.get(flag)}; remove it`;
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

/**
 * The setting, else the flag of Flux, whose name is the least edits away, where a typing error can be meant: at most a third of
 * its letters.
 */
function nearest(key: string): string | undefined {
  const [best] = [...Object.keys(Settings.shape), ...unhonouredFlags.keys()]
    .map((name) => ({ name, distance: editDistance(key, asFlag(name)) }))
    .filter(({ name, distance }) => distance <= name.length / 3)
    .toSorted((a, b) => a.distance - b.distance);
  return best?.name;
}

/** Levenshtein's distance; what is much longer than any name is far from all of them. */
function editDistance(a: string, b: string): number {
  if (a.length > 2 * b.length) return a.length;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of Array.from(a).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(b).entries()) {
      const swap = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(swap, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
