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
  const document = parse(text);
  if (document instanceof YAMLException) {
    return { faults: [`line ${(document.mark?.line ?? 0) + 1} is no YAML: ${document.reason}`] };
  }
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

function parse(text: string): unknown {
  try {
    const [document, ...more] = loadAll(text);
    return more.length > 0 ? [] : (document ?? {});
  } catch (error) {
    if (error instanceof YAMLException) return error;
    throw error;
  }
}

function unknownKey(key: string): string {
  const named = asFlag(key);
  const unhonoured = unhonouredFlags.get(named) ?? unhonouredFlags.get(key);
  if (unhonoured !== undefined) return `${key} is a flag of Flux that Sluice does not honour: ${unhonoured}; remove it`;
  const near = nearest(named);
  const mend = near === undefined ? "remove it, or see docs/settings.md for what there is" : `did you mean ${near}?`;
  return `${key} is not a setting: ${mend}`;
}

/** As Flux's flags are spelled: `--noRemoteBases`, `no_remote_bases` and the like are `no-remote-bases`. */
function asFlag(key: string): string {
  return key
    .replace(/^-+/, "")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
}

/** The setting whose name is the least edits away, where a typing error can be meant: at most a third of its letters. */
function nearest(key: string): string | undefined {
  const [best] = Object.keys(Settings.shape)
    .map((name) => ({ name, distance: editDistance(key, name) }))
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
