import { cleanPath } from "../../core/clean-path.ts";
import type { BuiltChart, ChartShape } from "./build-local.ts";
import { type Chart, chartOf } from "./chart.ts";
import { type Budget, chartBudget, maxChartBytes, metadataAmong, readArchive } from "./chart-archive.ts";
import { orChartFailure } from "./chart-failure.ts";
import { checkMetadata } from "./chart-metadata.ts";
import { countingValuesFiles } from "./chart-version.ts";
import { mergeValuesFiles } from "./merge-values.ts";
import { packageChart } from "./package-chart.ts";
import { withValues, withVersion } from "./with-values.ts";

/**
 * Builds a chart that a repository has: its archive is taken as it is, unless values files are to be merged (reference sources 7.5).
 * Throws a `Failure` with Flux's reason and text.
 *
 * @param version with the metadata that a chart with values files gets
 */
export async function buildRemote(
  archive: Uint8Array,
  version: string,
  { ignoreMissing, valuesFiles }: ChartShape,
  signal: AbortSignal,
): Promise<BuiltChart> {
  if (countingValuesFiles(valuesFiles).length === 0) {
    await checkArchive(archive, signal);
    return { bytes: archive, isPackaged: false, valuesFiles: [], dependencies: 0 };
  }
  const loaded = await orChartFailure(
    "ChartPackageError",
    () => loadArchive(archive, chartBudget(), signal),
    "failed to load downloaded chart: ",
  );
  const chart = withVersion(loaded, version);
  const merged = await orChartFailure(
    "ValuesFilesError",
    () =>
      mergeValuesFiles(
        {
          paths: valuesFiles,
          ignoreMissing,
          find: (path) => fileOrValues(chart, path),
          missing: (path) => `no values file found at path '${path}'`,
        },
        signal,
      ),
    "failed to merge chart values: ",
  );
  const valued = await orChartFailure("ValuesFilesError", () => withValues(chart, merged));
  const bytes = await orChartFailure("ChartPackageError", () => packageChart(valued.chart));
  return { bytes, isPackaged: true, valuesFiles: valued.valuesFiles, dependencies: 0 };
}

/** Reads a packed chart. Throws a `RangeError`. */
export async function loadArchive(archive: Uint8Array, budget: Budget, signal: AbortSignal): Promise<Chart> {
  refuseLarge(archive);
  return chartOf(await readArchive(archive, budget, signal), budget, signal);
}

async function checkArchive(archive: Uint8Array, signal: AbortSignal): Promise<void> {
  const metadata = await orChartFailure(
    "ChartPullError",
    async () => {
      refuseLarge(archive);
      return metadataAmong(await readArchive(archive, chartBudget(), signal));
    },
    "failed to load chart metadata from written chart: ",
  );
  await orChartFailure(
    "ChartPullError",
    () => checkMetadata(metadata),
    "failed to validate metadata of written chart: ",
  );
}

function refuseLarge({ length }: Uint8Array): void {
  if (length > maxChartBytes) throw new RangeError(`size of chart exceeds '${maxChartBytes}' bytes limit`);
}

/** As Flux looks for it: a path that leads out of the chart, or is absolute, names none of its files. */
function fileOrValues({ files, values }: Chart, path: string) {
  const name = cleanPath(path);
  return name === "values.yaml" ? values : files.find((file) => file.name === name && !isOwn(file.name))?.bytes;
}

/** Helm keeps these apart from the other files of a chart, where values files are looked for. */
function isOwn(name: string): boolean {
  return name.startsWith("templates/") || ["Chart.yaml", "Chart.lock", "values.schema.json"].includes(name);
}
