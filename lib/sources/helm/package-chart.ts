import type { JsonObject } from "../../core/json.ts";
import { gzip, packEnd, packEntry } from "../archive/pack-tar.ts";
import type { Chart } from "./chart.ts";
import type { ChartFile } from "./chart-archive.ts";
import { yamlText } from "./merge-values.ts";

/** The limit for a chart that Sluice packs, with the dependencies that were added to it. */
export const maxPackedChartBytes = 50 * 1024 * 1024;

const fileMode = 0o644;
/** Files that packing writes itself, or that were read into the metadata. */
const rewritten: ReadonlySet<string> = new Set(["Chart.yaml", "Chart.lock", "values.yaml", "values.schema.json"]);
const requirements: ReadonlySet<string> = new Set(["requirements.yaml", "requirements.lock"]);

/**
 * The chart packed as Helm packs it: the metadata, values and schema, the templates, all other files, the charts in it, unpacked below
 * `charts/`. Without times, so that the same chart gives the same bytes. Throws a `RangeError` for a schema that is not JSON
 * and for a chart with more bytes than `maxBytes` when it is packed.
 */
export async function packageChart(chart: Chart, maxBytes = maxPackedChartBytes): Promise<Uint8Array> {
  return gzip(tarOf(chart), maxBytes);
}

function* tarOf(chart: Chart): Generator<Uint8Array, void, undefined> {
  for (const { name: path, bytes } of packedFiles(chart, chart.metadata.name)) {
    yield* packEntry({ type: "file", path, mode: fileMode, bytes });
  }
  yield packEnd();
}

function* packedFiles({ charts, files, lock, metadata }: Chart, folder: string): Generator<ChartFile, void, undefined> {
  const isFirst = metadata.apiVersion === "v1";
  const at = (name: string, bytes: Uint8Array): ChartFile => ({ name: `${folder}/${name}`, bytes });
  yield at("Chart.yaml", Buffer.from(yamlText(isFirst ? withoutDependencies(metadata.fields) : metadata.fields)));
  if (lock !== undefined && metadata.apiVersion === "v2") yield at("Chart.lock", Buffer.from(yamlText(lock.fields)));
  for (const { name, bytes } of files) if (name === "values.yaml") yield at(name, bytes);
  for (const { name, bytes } of files) {
    if (name !== "values.schema.json") continue;
    if (!isJson(bytes)) throw new RangeError("failed to package chart: invalid JSON in values.schema.json");
    yield at(name, bytes);
  }
  const isTemplate = (name: string): boolean => name.startsWith("templates/");
  for (const { name, bytes } of files) if (isTemplate(name)) yield at(name, bytes);
  for (const { name, bytes } of files) {
    if (isTemplate(name) || rewritten.has(name) || (requirements.has(name) && !isFirst)) continue;
    yield at(name, bytes);
  }
  for (const chart of charts) yield* packedFiles(chart, `${folder}/charts/${chart.metadata.name}`);
}

/** The first version of charts has them in a file of their own. */
function withoutDependencies({ dependencies: _dependencies, ...fields }: JsonObject): JsonObject {
  return fields;
}

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder().decode(bytes));
    return true;
  } catch {
    return false;
  }
}
