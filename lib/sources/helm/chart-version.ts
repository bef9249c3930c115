import { cleanPath } from "../../core/clean-path.ts";
import { readSemver } from "../semver-version.ts";

/**
 * The version with this build metadata in place of its own, for example `1.2.3+4`, as Helm writes versions. Throws a `RangeError` with
 * Flux's text for what is not a version.
 */
export function versionWith(version: string, metadata: string): string {
  if (metadata === "") return version;
  const read = readSemver(version);
  if (read === undefined) {
    throw new RangeError("failed to parse version from chart metadata as SemVer: invalid semantic version");
  }
  const { major, minor, patch, pre } = read;
  return `${major}.${minor}.${patch}${pre === "" ? "" : `-${pre}`}+${metadata}`;
}

const shownDigits = 12;

/** The part of a source's revision that makes a chart's version its own: the first digits of its commit or digest. */
export function revisionMetadata(revision: string): string {
  const digest = revision.slice(revision.lastIndexOf("@") + 1);
  return digest.slice(digest.indexOf(":") + 1).slice(0, shownDigits);
}

/** The values files that count: `values.yaml` alone is what a chart has anyway. */
export function countingValuesFiles(valuesFiles: readonly string[] = []): readonly string[] {
  const [only = ""] = valuesFiles;
  const isOwn = valuesFiles.length === 1 && cleanPath(only) === "values.yaml";
  return isOwn ? [] : valuesFiles;
}

/** What happened to a chart, in Flux's words. */
export function chartSummary(
  done: "packaged" | "pulled",
  { name, version }: { readonly name: string; readonly version: string },
  valuesFiles: readonly string[],
): string {
  const merged = valuesFiles.length === 0 ? "" : ` and merged values files [${valuesFiles.join(" ")}]`;
  return `${done} '${name}' chart with version '${version}'${merged}`;
}
