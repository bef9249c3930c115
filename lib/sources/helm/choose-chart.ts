import { inTimeSlices } from "../../core/concurrency.ts";
import { parseSemverRange } from "../semver-range.ts";
import { compareSemver, parseSemver, type SemverVersion } from "../semver-version.ts";
import type { ChartIndex, IndexedChart } from "./chart-entry.ts";

/** Time for matching all versions of a chart, in milliseconds. */
const maxMatchingMs = 20_000;

/**
 * The version of a chart that `spec.version` of a HelmChart selects in an index (reference 7.3): the one of that very text, else the
 * newest in the range. If versions differ only in build metadata, the one that was created last. Throws a `RangeError` with Flux's
 * text.
 */
export async function chooseVersion(
  { entries }: Pick<ChartIndex, "entries">,
  name: string,
  version: string,
  signal: AbortSignal,
): Promise<IndexedChart> {
  const charts = entries.get(name);
  if (charts === undefined) throw new RangeError("no chart name found");
  if (charts.length === 0) throw new RangeError("no chart version found");
  const literal = version === "" ? undefined : charts.find((chart) => chart.version === version);
  if (literal !== undefined) return literal;
  const best = await newest(charts, (chart) => parseSemver(chart.version), version, isCreatedNoLater, signal);
  if (best === undefined) throw new RangeError(`no '${name}' chart with version matching '${version}' found`);
  return best;
}

/** As in Flux, the later of two in the index counts where both were created at the same time. */
function isCreatedNoLater(one: IndexedChart, other: IndexedChart): boolean {
  const never = Number.NEGATIVE_INFINITY;
  return (one.created ?? never) <= (other.created ?? never);
}

/** Whether a version names one tag of a registry, so that no tags have to be listed. */
export function isOneTag(version: string): boolean {
  return parseSemver(version) !== undefined;
}

/** What Masterminds' `StrictNewVersion` reads: three numbers without zeros before them, and no `v`. */
const strictVersion =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/**
 * The version that `spec.version` of a HelmChart selects among the tags of a registry (reference 7.3). A tag has `_` in place of the
 * `+` of a version, and the answer has the `+`. Tags that are not strict semantic versions do not count. Throws a `RangeError` with
 * Flux's text.
 */
export async function chooseTag(tags: readonly string[], version: string, signal: AbortSignal): Promise<string> {
  const versions = tags.map((tag) => tag.replaceAll("_", "+")).filter((tag) => strictVersion.test(tag));
  if (version !== "" && versions.includes(version)) return version;
  const best = await newest(versions, parseSemver, version, () => false, signal);
  if (best === undefined) {
    throw new RangeError(`could not locate a version matching provided version string ${version}`);
  }
  return best;
}

/** The newest in a range; `replaces` decides between equal versions. Undefined if none is in the range. */
async function newest<Item>(
  items: readonly Item[],
  versionOf: (item: Item) => SemverVersion | undefined,
  range: string,
  replaces: (present: Item, next: Item) => boolean,
  signal: AbortSignal,
): Promise<Item | undefined> {
  const isIn = parseSemverRange(range === "" ? "*" : range);
  let best: { readonly item: Item; readonly version: SemverVersion } | undefined;
  const look = (item: Item): void => {
    const version = versionOf(item);
    if (version === undefined || !isIn(version)) return;
    const order = best === undefined ? 1 : compareSemver(version, best.version);
    if (best === undefined || order > 0 || (order === 0 && replaces(best.item, item))) best = { item, version };
  };
  if (!(await inTimeSlices(items, look, maxMatchingMs, signal))) {
    throw new RangeError(`matching ${items.length} versions takes more than ${maxMatchingMs / 1_000} s`);
  }
  return best?.item;
}
