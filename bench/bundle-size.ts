import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { bundleFunctions } from "../infra/bundle.ts";
import { functionEnvironment } from "../test/doubles/function-environment.ts";
import { type Figure, figure } from "./figure.ts";

const starts = 10;

/** What the reconcile function loads before its first event, in kB (10^3 bytes; issue 13). */
const maxAtStartKb = 1_200;

/** The size of each function's bundle, how much of it is loaded at the start, and the time that a fresh Node process takes for that. */
export async function bundleSize(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const bundles = await bundleFunctions(join(import.meta.dirname, "..", ".cache", "bundles"));
  for (const { name, folder, entry, startFiles } of bundles) {
    const all = await kilobytes(folder, await readdir(folder));
    const atStart = await kilobytes(folder, startFiles);
    const limit = name === "reconcile" ? ({ of: "max", atMost: maxAtStartKb } as const) : undefined;
    const times: number[] = [];
    for (let start = 0; start < starts; start++) times.push(await importMs(entry));
    figures.push(
      figure(`bundle of ${name}`, "MB", [all / 1_000]),
      figure(`bundle of ${name}, loaded at the start`, "kB", [atStart], limit),
      figure(`cold start of ${name}, import`, "ms", times),
    );
  }
  return figures;
}

async function kilobytes(folder: string, files: readonly string[]): Promise<number> {
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0) / 1_000;
}

async function importMs(entry: string): Promise<number> {
  const script = `const before = performance.now(); await import(${JSON.stringify(pathToFileURL(entry).href)}); console.log(performance.now() - before); process.exit();`;
  const options = { env: functionEnvironment };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], options);
  return Number(stdout);
}
