import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { bundleFunctions } from "../infra/bundle.ts";
import { functionEnvironment } from "../test/doubles/function-environment.ts";
import { type Figure, figure } from "./figure.ts";

const starts = 10;

/** The size of what each function ships, and how long a fresh process of Node takes to load it. */
export async function bundleSize(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { name, folder, entry } of await bundleFunctions(join(import.meta.dirname, "..", ".cache", "bundles"))) {
    const sizes = await Promise.all((await readdir(folder)).map(async (file) => (await stat(join(folder, file))).size));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const times: number[] = [];
    for (let start = 0; start < starts; start++) times.push(await importMs(entry));
    figures.push(
      figure(`bundle of ${name}`, "MB", [bytes / 1024 / 1024]),
      figure(`cold start of ${name}, import`, "ms", times),
    );
  }
  return figures;
}

async function importMs(entry: string): Promise<number> {
  const script = `const before = performance.now(); await import(${JSON.stringify(pathToFileURL(entry).href)}); console.log(performance.now() - before); process.exit();`;
  const options = { env: functionEnvironment };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], options);
  return Number(stdout);
}
