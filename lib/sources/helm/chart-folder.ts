import { inTimeSlices } from "../../core/concurrency.ts";
import type { FileTree } from "../../core/ports/engine.ts";
import { maxIgnoringMs } from "../archive/archive-tree.ts";
import { inWalkOrder } from "../archive/walk-order.ts";
import { type Budget, type ChartFile, maxChartFileBytes, maxChartFiles, spend, withoutMark } from "./chart-archive.ts";
import { helmIgnore } from "./helm-ignore.ts";

/** The files of a chart that is a folder of a source, in the order of a walk, without what `.helmignore` leaves out. They count in the budget. Throws a `RangeError`. */
export async function readFolder(
  { files, folders }: FileTree,
  folder: string,
  budget: Budget,
  signal: AbortSignal,
): Promise<readonly ChartFile[]> {
  const place = folder === "" ? "" : `${folder}/`;
  const inside = [
    ...[...folders].map((path) => ({ path, bytes: undefined })),
    ...[...files].map(([path, bytes]) => ({ path, bytes })),
  ]
    .filter(({ path }) => path !== folder && path.startsWith(place))
    .map(({ path, bytes }) => ({ path: path.slice(place.length), bytes }));
  if (inside.length > maxChartFiles) throw new RangeError(`the chart has more than ${maxChartFiles} files and folders`);
  const ignore = rulesOf(files.get(`${place}.helmignore`));
  const left: string[] = [];
  const found: ChartFile[] = [];
  const take = ({ path, bytes }: (typeof inside)[number]): void => {
    const last = left.at(-1);
    if (last !== undefined && path.startsWith(last)) return;
    if (ignore(path, bytes === undefined)) {
      if (bytes === undefined) left.push(`${path}/`);
      return;
    }
    if (bytes === undefined) return;
    if (bytes.length > maxChartFileBytes) {
      const why = `cannot load file ${path} as file size (${bytes.length}) exceeds limit (${maxChartFileBytes})`;
      throw new RangeError(`failed to load files from /${folder}: ${why}`);
    }
    spend(budget, bytes.length);
    found.push({ name: path, bytes: withoutMark(bytes) });
  };
  if (!(await inTimeSlices(inWalkOrder(inside), take, maxIgnoringMs, signal))) {
    const what = `the rules of .helmignore take more than ${maxIgnoringMs / 1_000} s for ${inside.length} files and folders`;
    throw new RangeError(`failed to load files from /${folder}: ${what}`);
  }
  return found;
}

function rulesOf(file: Uint8Array | undefined) {
  try {
    return helmIgnore(file);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RangeError(`cannot load ignore rules for chart: ${error.message}`, { cause: error });
  }
}
