import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { bundleFunctions } from "../infra/bundle.ts";
import { type Figure, figure } from "./figure.ts";

const starts = 10;

/** What the functions' environment has to hold so that they start; nothing of it is reached. */
export const environment = {
  AWS_REGION: "eu-west-1",
  SLUICE_TABLE: "sluice",
  SLUICE_QUEUE_URL: "https://sqs.eu-west-1.amazonaws.com/123456789012/reconcile",
  SLUICE_DEAD_LETTER_QUEUE_URL: "https://sqs.eu-west-1.amazonaws.com/123456789012/dead",
  SLUICE_BUCKET: "sluice-artifacts",
  SLUICE_CLUSTER: "arn:aws:eks:eu-west-1:123456789012:cluster/prod",
  SLUICE_INSTALLATION_KEY_SECRET: "sluice",
};

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
  const options = { env: environment };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], options);
  return Number(stdout);
}
