import { timeSlices } from "../../core/concurrency.ts";
import type { JsonObject } from "../../core/json.ts";
import { type Budget, type ChartFile, readArchive } from "./chart-archive.ts";
import { type ChartDependency, type ChartMetadata, checkMetadata, readLock, readMetadata } from "./chart-metadata.ts";
import { chartYaml, mapOf } from "./chart-yaml.ts";
import { mergeMaps } from "./merge-values.ts";

/** A chart, read as Helm reads it. */
export interface Chart {
  readonly metadata: ChartMetadata;
  readonly lock: { readonly dependencies: readonly ChartDependency[]; readonly fields: JsonObject } | undefined;
  /** What `values.yaml` holds; empty without that file. */
  readonly values: JsonObject;
  /** All files but those below `charts/`, in the order in which they were read. */
  readonly files: readonly ChartFile[];
  /** The charts below `charts/`, by the names of their folders and archives. */
  readonly charts: readonly Chart[];
}

/** Charts in charts. */
export const maxNestedCharts = 10;

/**
 * The chart that these files are, with those below its `charts/` folder, which may be packed. Throws a `RangeError` with Helm's text.
 */
export async function chartOf(
  files: readonly ChartFile[],
  budget: Budget,
  signal: AbortSignal,
  depth = 0,
): Promise<Chart> {
  if (depth > maxNestedCharts) throw new RangeError(`charts are nested more than ${maxNestedCharts} deep`);
  const byName = new Map(files.map(({ name, bytes }) => [name, bytes]));
  const chartFile = byName.get("Chart.yaml");
  if (chartFile === undefined) throw new RangeError("Chart.yaml file is missing");
  const metadata = readMetadata(chartFile, byName.get("requirements.yaml"));
  const lockName = ["Chart.lock", "requirements.lock"].find((name) => byName.has(name));
  const lock = lockName === undefined ? undefined : readLock(lockName, byName.get(lockName) ?? new Uint8Array());
  // The values of a subchart are read when it is rendered.
  const values = depth === 0 ? valuesOf(byName.get("values.yaml")) : {};
  checkMetadata(metadata);
  const own: ChartFile[] = [];
  const packed = new Map<string, ChartFile[]>();
  for (const file of files) {
    if (!file.name.startsWith("charts/") || file.name.endsWith(".prov")) {
      own.push(file);
      continue;
    }
    const name = file.name.slice("charts/".length);
    const [folder = ""] = name.split("/", 1);
    if (/^[_.]/.test(folder)) continue;
    packed.set(folder, [...(packed.get(folder) ?? []), { name, bytes: file.bytes }]);
  }
  const charts: Chart[] = [];
  const slices = timeSlices(signal);
  for (const [folder, inside] of [...packed].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (slices.isOver()) await slices.pause();
    try {
      charts.push(
        await chartOf(await unpacked(folder, inside, metadata.name, budget, signal), budget, signal, depth + 1),
      );
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new RangeError(`error unpacking subchart ${folder} in ${metadata.name}: ${error.message}`, {
        cause: error,
      });
    }
  }
  return { metadata, lock, values, files: own, charts };
}

async function unpacked(
  folder: string,
  inside: readonly ChartFile[],
  parent: string,
  budget: Budget,
  signal: AbortSignal,
): Promise<readonly ChartFile[]> {
  if (folder.endsWith(".tgz")) {
    const [file] = inside;
    if (file === undefined || file.name !== folder) {
      throw new RangeError(`error unpacking subchart tar in ${parent}: expected ${folder}, got ${file?.name ?? ""}`);
    }
    return readArchive(file.bytes, budget, signal);
  }
  return inside
    .filter(({ name }) => name.includes("/"))
    .map(({ name, bytes }) => ({ name: name.slice(name.indexOf("/") + 1), bytes }));
}

/** The documents of `values.yaml`, merged. */
function valuesOf(bytes: Uint8Array | undefined): JsonObject {
  if (bytes === undefined) return {};
  try {
    return chartYaml(bytes).map(mapOf).reduce(mergeMaps, {});
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RangeError(`cannot load values.yaml: cannot unmarshal yaml document: ${error.message}`, { cause: error });
  }
}
