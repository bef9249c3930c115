import { posix } from "node:path";
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { messageOf } from "../../core/failure.ts";
import { readTar } from "../archive/read-tar.ts";
import { type ChartMetadata, readMetadata } from "./chart-metadata.ts";

/** The limit for a packed chart: Flux's `--helm-chart-max-size`. */
export const maxChartBytes = 10 * 1024 * 1024;
/** The limit for each file in a chart: Flux's `--helm-chart-file-max-size`, and Helm's own limit. */
export const maxChartFileBytes = 5 * 1024 * 1024;
/** The limit for all files of a chart, including those of the charts in it and of its dependencies: Helm's limit for each of them. */
export const maxUnpackedChartBytes = 100 * 1024 * 1024;
/** The limit for the files of a chart, including those of the charts in it and of its dependencies. */
export const maxChartFiles = 20_000;

/** A file of a chart. Its name is its path in the chart, for example `templates/service.yaml`. */
export interface ChartFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** How many more bytes a chart may take, with the charts in it and the dependencies that are added. */
export interface Budget {
  bytes: number;
  files: number;
}

/** Takes a file out of the budget. Throws a `RangeError` where it does not fit. */
export function spend(budget: Budget, bytes: number): void {
  if (--budget.files < 0) throw new RangeError(`the chart has more than ${maxChartFiles} files`);
  if (bytes > budget.bytes) throw tooLarge();
  budget.bytes -= bytes;
}

export function chartBudget(): Budget {
  return { bytes: maxUnpackedChartBytes, files: maxChartFiles };
}

/** A shorter text ends within the header of gzip, which Go reads first. */
const gzipHeadBytes = 10;
const chunkBytes = 64 * 1024;
const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * The files of a packed chart, each by its path below the first folder, whatever that is called. Throws a `RangeError` with Helm's text
 * where Helm refuses the archive; and for a link, which Helm makes an empty file of.
 */
export async function readArchive(
  packed: Uint8Array,
  budget: Budget,
  signal: AbortSignal,
): Promise<readonly ChartFile[]> {
  if (packed[0] !== 0x1f || packed[1] !== 0x8b) {
    const isShort = packed.length < gzipHeadBytes;
    throw new RangeError(packed.length === 0 ? "EOF" : isShort ? "unexpected EOF" : "gzip: invalid header");
  }
  const gunzip = createGunzip({ chunkSize: chunkBytes });
  // The reader below gets the error of either stream.
  const stream = pipeline(Readable.from(slices(packed)), gunzip, () => undefined);
  const files: ChartFile[] = [];
  try {
    for await (const member of readTar(counted(stream, signal))) {
      const { name, type, size } = member;
      if (--budget.files < 0) throw new RangeError(`the chart has more than ${maxChartFiles} files`);
      if (type === "5" || type === "g" || name.endsWith("/")) continue;
      const path = pathIn(name);
      if (type !== "0")
        throw new RangeError(`the chart has a link or a device at ${shown(name)}: put a file in its place`);
      if (size > budget.bytes) throw tooLarge();
      if (size > maxChartFileBytes) {
        const limit = `is larger than the maximum file size ${maxChartFileBytes}`;
        throw new RangeError(`decompressed chart file ${shown(name)} ${limit}`);
      }
      budget.bytes -= size;
      files.push({ name: path, bytes: withoutMark(await member.bytes()) });
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RangeError) throw error;
    throw new RangeError(`gzip: ${messageOf(error)}`, { cause: error });
  } finally {
    stream.destroy();
  }
  if (files.length === 0) throw new RangeError("no files in chart archive");
  return files;
}

/** The metadata among the files of a chart. Throws a `RangeError` with Flux's text. */
export function metadataAmong(files: readonly ChartFile[]): ChartMetadata {
  const find = (wanted: string): Uint8Array | undefined => files.find(({ name }) => name === wanted)?.bytes;
  const chartFile = find("Chart.yaml");
  if (chartFile === undefined) throw new RangeError("no 'Chart.yaml' found");
  return readMetadata(chartFile, find("requirements.yaml"));
}

/** Without the mark that some editors put before a text. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  return utf8Mark.equals(bytes.subarray(0, utf8Mark.length)) ? bytes.subarray(utf8Mark.length) : bytes;
}

/** The path below the first folder. */
function pathIn(name: string): string {
  const parts = name.split(name.includes("\\") ? "\\" : "/");
  const below = parts.slice(1).join("/");
  if (below.startsWith("/")) throw new RangeError("chart illegally contains absolute paths");
  const path = posix.normalize(below);
  if (path === "." || name.includes("\0")) {
    throw new RangeError(`chart illegally contains content outside the base directory: ${shown(name)}`);
  }
  if (path.startsWith("..")) throw new RangeError("chart illegally references parent directory");
  if (/^[a-zA-Z]:\//.test(path)) throw new RangeError("chart contains illegally named files");
  if (parts[0] === "Chart.yaml") throw new RangeError("chart yaml not in base directory");
  return path;
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 200));
}

function tooLarge(): RangeError {
  return new RangeError(`decompressed chart is larger than the maximum size ${maxUnpackedChartBytes}`);
}

/** Headers and paddings count too: a tar of empty files is as large as one of full ones. */
async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    bytes += chunk.length;
    if (bytes > maxUnpackedChartBytes + maxChartFiles * 1024) throw tooLarge();
    yield chunk;
  }
}

function* slices(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}
