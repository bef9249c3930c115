import type { FileTree } from "../../core/ports/engine.ts";
import { confined } from "../../manifests/artifact-tree.ts";
import { presentFiles, presentPaths } from "../archive/present-paths.ts";
import { type Chart, chartOf } from "./chart.ts";
import {
  type Budget,
  type ChartFile,
  chartBudget,
  maxChartBytes,
  metadataAmong,
  readArchive,
  withoutMark,
} from "./chart-archive.ts";
import { chartFailure, orChartFailure } from "./chart-failure.ts";
import { readFolder } from "./chart-folder.ts";
import { type ChartMetadata, checkMetadata, readMetadata } from "./chart-metadata.ts";
import { countingValuesFiles, versionWith } from "./chart-version.ts";
import { mergeValuesFiles } from "./merge-values.ts";
import { type AddDependencies, missingDependencies } from "./missing-dependencies.ts";
import { packageChart } from "./package-chart.ts";
import { withValues, withVersion } from "./with-values.ts";

/** A built chart. */
export interface BuiltChart {
  readonly bytes: Uint8Array;
  readonly isPackaged: boolean;
  /** The values files that made its values.yaml; none where they changed nothing. */
  readonly valuesFiles: readonly string[];
  readonly dependencies: number;
}

/** A chart in the artifact of a source. */
export interface LocalChart {
  readonly metadata: ChartMetadata;
  /** Its path in the artifact. */
  readonly place: string;
  readonly isFolder: boolean;
}

/** Where Flux unpacks an artifact. */
const root = "source";

/** The chart at this path of an artifact, before anything but its metadata is read. Throws a `Failure` `InvalidChartReference`. */
export async function findLocalChart(tree: FileTree, path: string, signal: AbortSignal): Promise<LocalChart> {
  const invalid = (why: string) => chartFailure("InvalidChartReference", why);
  if (path === "") throw invalid("no path set for local chart reference");
  if (path.startsWith("/")) throw invalid("local chart reference path is expected to be relative");
  const place = confined(path);
  const shown = place === "" ? root : `${root}/${place}`;
  const file = tree.files.get(place);
  const isFolder = tree.folders.has(place);
  if (file === undefined && !isFolder) {
    throw invalid(`stat ${shown}: no such file or directory${presentCharts(tree)}`);
  }
  return orChartFailure("InvalidChartReference", async () => {
    const metadata =
      file === undefined ? folderMetadata(tree, place, shown) : metadataAmong(await packed(file, shown, signal));
    checkMetadata(metadata);
    return { metadata, place, isFolder };
  });
}

/** The folders with a chart, for users who mistyped `spec.chart`. */
function presentCharts({ files }: Pick<FileTree, "files">): string {
  const end = "/Chart.yaml";
  const charts = [...files.keys()].flatMap((path) =>
    path === "Chart.yaml" ? "." : path.endsWith(end) ? path.slice(0, -end.length) : [],
  );
  return presentPaths("artifact", "charts", charts);
}

function folderMetadata({ files }: FileTree, place: string, shown: string): ChartMetadata {
  const at = (name: string): Uint8Array | undefined => {
    const bytes = files.get(place === "" ? name : `${place}/${name}`);
    return bytes === undefined ? undefined : withoutMark(bytes);
  };
  const chartFile = at("Chart.yaml");
  if (chartFile === undefined) {
    throw new RangeError(`open ${shown}/Chart.yaml: no such file or directory${presentCharts({ files })}`);
  }
  return readMetadata(chartFile, at("requirements.yaml"));
}

function packed(file: Uint8Array, name: string, signal: AbortSignal): Promise<readonly ChartFile[]> {
  if (file.length > maxChartBytes) {
    const last = name.slice(name.lastIndexOf("/") + 1);
    throw new RangeError(`size of chart '${last}' exceeds '${maxChartBytes}' bytes limit`);
  }
  return readArchive(file, chartBudget(), signal);
}

/** The fields of a HelmChart's spec that change the chart. */
export interface ChartShape {
  readonly valuesFiles: readonly string[];
  readonly ignoreMissing: boolean;
  /** Build metadata for its version; empty to leave the version as it is. */
  readonly metadata: string;
}

/**
 * Builds a chart of an artifact: a packed one that is left as it is, is copied; any other one is packed (reference sources 7.4, 7.5).
 * Throws a `Failure` with Flux's reason and text.
 */
export async function buildLocal(
  tree: FileTree,
  { isFolder, metadata, place }: LocalChart,
  { ignoreMissing, metadata: suffix, valuesFiles }: ChartShape,
  add: AddDependencies,
  signal: AbortSignal,
): Promise<BuiltChart> {
  const version = await orChartFailure("MetadataPatchError", () => versionWith(metadata.version, suffix));
  const counting = countingValuesFiles(valuesFiles);
  const archive = tree.files.get(place);
  if (archive !== undefined && suffix === "" && counting.length === 0) {
    return { bytes: archive, isPackaged: false, valuesFiles: [], dependencies: 0 };
  }
  const merged = await orChartFailure("ValuesFilesError", () =>
    counting.length === 0
      ? undefined
      : mergeValuesFiles(
          {
            paths: valuesFiles,
            ignoreMissing,
            find: (path) => tree.files.get(confined(path)),
            missing: (path) => missingValues(tree, path),
          },
          signal,
        ),
  );
  const budget = chartBudget();
  const loaded = await orChartFailure("ChartPackageError", () => loadLocal(tree, place, budget, signal));
  const named = withVersion(loaded, version);
  const valued = await orChartFailure("ValuesFilesError", () => withValues(named, merged));
  const missing = isFolder ? missingDependencies(valued.chart) : [];
  const added = await add(missing, budget);
  const chart: Chart = { ...valued.chart, charts: [...valued.chart.charts, ...added] };
  const bytes = await orChartFailure("ChartPackageError", () => packageChart(chart));
  return { bytes, isPackaged: true, valuesFiles: valued.valuesFiles, dependencies: missing.length };
}

function missingValues({ files, folders }: FileTree, path: string): string {
  const place = confined(path);
  const paths = { files: files.keys(), folders };
  const present = presentFiles("artifact", "YAML files", place, paths, (one) => /\.ya?ml$/.test(one));
  return `no values file found at path '/${place}' (reference '${path}')${present}`;
}

/** The chart at this path, packed or not. Throws a `RangeError`. */
export async function loadLocal(tree: FileTree, place: string, budget: Budget, signal: AbortSignal): Promise<Chart> {
  const file = tree.files.get(place);
  if (file !== undefined) return chartOf(await readArchive(file, budget, signal), budget, signal);
  const files = await readFolder(tree, place, budget, signal);
  try {
    return await chartOf(files, budget, signal);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RangeError(`failed to load chart from /${place}: ${error.message}`, { cause: error });
  }
}
