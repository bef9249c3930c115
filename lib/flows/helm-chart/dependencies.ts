import { messageOf } from "../../core/failure.ts";
import type { FileTree } from "../../core/ports/engine.ts";
import { confined } from "../../manifests/artifact-tree.ts";
import { loadLocal } from "../../sources/helm/build-local.ts";
import { loadArchive } from "../../sources/helm/build-remote.ts";
import type { Chart } from "../../sources/helm/chart.ts";
import type { Budget } from "../../sources/helm/chart-archive.ts";
import { chartFailure } from "../../sources/helm/chart-failure.ts";
import type { ChartDependency } from "../../sources/helm/chart-metadata.ts";
import { type AddDependencies, nameOf } from "../../sources/helm/missing-dependencies.ts";
import { withName } from "../../sources/helm/with-values.ts";
import { parseSemverRange } from "../../sources/semver-range.ts";
import { readSemver } from "../../sources/semver-version.ts";
import type { SourceContext } from "../source/source-context.ts";

/** Where the charts are that a chart needs from elsewhere. */
export interface Dependencies {
  /**
   * The archive of a chart, from a repository in the namespace of the object. Throws an error that says why it is not available: a
   * `RangeError`, or an error of the connection.
   */
  readonly download: (dependency: ChartDependency, ctx: SourceContext) => Promise<Uint8Array>;
}

/** More of them are not fetched for one chart. */
export const maxMissingDependencies = 100;

/** Brings what a chart at this place of an artifact needs and does not have (reference sources 7.4). */
export function dependencyAdder(
  tree: FileTree,
  place: string,
  { download }: Dependencies,
  ctx: SourceContext,
): AddDependencies {
  const { signal } = ctx.run;
  return async (missing, budget) => {
    if (missing.length > maxMissingDependencies) {
      const why = `${missing.length} dependencies are missing, ${maxMissingDependencies} are fetched at most`;
      throw chartFailure("DependencyBuildError", `${why}: put them into charts/`);
    }
    const charts: Chart[] = [];
    for (const dependency of missing) {
      const isLocal = dependency.repository === "" || dependency.repository.startsWith("file://");
      const load = isLocal
        ? () => localChart(tree, place, dependency, budget, signal)
        : async () => loadRemote(dependency, await download(dependency, ctx), budget, signal);
      charts.push(await added(isLocal ? "local" : "remote", dependency, load, signal));
    }
    return charts;
  };
}

async function added(
  where: "local" | "remote",
  dependency: ChartDependency,
  load: () => Promise<Chart>,
  signal: AbortSignal,
): Promise<Chart> {
  try {
    const chart = await load();
    return dependency.alias === "" ? chart : withName(chart, dependency.alias);
  } catch (error) {
    signal.throwIfAborted();
    const why = `failed to add ${where} dependency '${nameOf(dependency)}': ${messageOf(error)}`;
    throw chartFailure("DependencyBuildError", why, error);
  }
}

async function localChart(
  tree: FileTree,
  place: string,
  { name, repository, version }: ChartDependency,
  budget: Budget,
  signal: AbortSignal,
): Promise<Chart> {
  const path = repository === "" ? `charts/${name}` : repository.slice("file://".length);
  const at = confined(`${place}/${path}`);
  if (!tree.files.has(at) && !tree.folders.has(at)) {
    throw new RangeError(`no chart found at '/${at}' (reference '${repository}')`);
  }
  const isIn = rangeOf(version);
  const chart = await loadLocal(tree, at, budget, signal).catch((error: unknown) => {
    if (!(error instanceof RangeError)) throw error;
    const what = `failed to load chart from '/${at}' (reference '${repository}')`;
    throw new RangeError(`${what}: ${error.message}`, { cause: error });
  });
  const found = readSemver(chart.metadata.version);
  if (found === undefined || !isIn(found))
    throw new RangeError(`can't get a valid version for constraint '${version}'`);
  return chart;
}

function rangeOf(version: string) {
  try {
    return parseSemverRange(version);
  } catch (error) {
    throw new RangeError(`invalid version/constraint format '${version}': ${messageOf(error)}`, { cause: error });
  }
}

async function loadRemote(
  { version }: ChartDependency,
  archive: Uint8Array,
  budget: Budget,
  signal: AbortSignal,
): Promise<Chart> {
  try {
    return await loadArchive(archive, budget, signal);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RangeError(`failed to load downloaded archive of version '${version}': ${error.message}`, {
      cause: error,
    });
  }
}
