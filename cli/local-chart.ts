import { basename } from "node:path";
import type { HelmReleaseSpec } from "../lib/api/helm-release-spec.ts";
import { isJsonObject } from "../lib/core/json.ts";
import type { FileTree } from "../lib/core/ports/engine.ts";
import { buildLocal, findLocalChart } from "../lib/sources/helm/build-local.ts";
import { type AddDependencies, nameOf } from "../lib/sources/helm/missing-dependencies.ts";
import { readFolder } from "../lib/sources/oci/read-folder.ts";

/** Where the chart is among the files. */
const place = "chart";

/**
 * Packs the chart in a folder of this machine, or takes one that is packed, with the values files that `spec.chart` names, as the
 * HelmChart of the HelmRelease would be built from it.
 *
 * @throws Error that names the path if there is no chart, Failure with Flux's text if it cannot be packed or lacks a dependency in `charts/`
 */
export async function packLocalChart(
  path: string,
  { chart }: Pick<HelmReleaseSpec, "chart">,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const tree = await readTree(path);
  const local = await findLocalChart(tree, place, signal);
  const { chart: chartPath = "", ignoreMissingValuesFiles = false, valuesFiles = [] } = chart?.spec ?? {};
  const shape = {
    valuesFiles: valuesFiles.map((file) => `${place}/${withinChart(file, chartPath)}`),
    ignoreMissing: ignoreMissingValuesFiles,
    metadata: "",
  };
  return (await buildLocal(tree, local, shape, refuse, signal)).bytes;
}

async function readTree(path: string): Promise<FileTree> {
  const read = readFolder(path, { ignore: () => false, resolveSymlinks: true });
  const { entries } = await read.catch((error: unknown) => {
    if (isJsonObject(error) && error["code"] === "ENOENT") throw new Error(`there is no chart at ${path}`);
    throw error;
  });
  const [only] = entries;
  // A single file is a packed chart.
  if (entries.length === 1 && only?.type === "file" && only.path === basename(path)) {
    return { files: new Map([[place, only.bytes]]), folders: new Set([""]) };
  }
  const files = new Map<string, Uint8Array>();
  const folders = new Set(["", place]);
  if (!entries.some((entry) => entry.path === "Chart.yaml")) {
    throw new Error(`${path} is not a chart: it has no Chart.yaml`);
  }
  for (const entry of entries) {
    if (entry.type === "file") files.set(`${place}/${entry.path}`, entry.bytes);
    else folders.add(`${place}/${entry.path}`);
  }
  return { files, folders };
}

/** Values files of a git repository are named from its root, those of a chart repository from the chart. */
function withinChart(file: string, chartPath: string): string {
  const [plain, folder] = [file, chartPath].map((path) => path.replace(/^\.\//, "").replace(/\/+$/, ""));
  if (plain === undefined || folder === undefined || !plain.startsWith(`${folder}/`)) return plain ?? file;
  return plain.slice(folder.length + 1);
}

const refuse: AddDependencies = async (missing) => {
  if (missing.length === 0) return [];
  const names = missing.map(nameOf).join(", ");
  throw new Error(`the chart has no ${names} in its folder charts: \`helm dependency build\` brings them`);
};
