import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { load } from "js-yaml";
import { z } from "zod";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { pushChart } from "../../../local/demo/push-chart.ts";
import { untilDeadline } from "../../deadline.ts";
import { pushFiles } from "../recorded-flux/push-files.ts";

/** `node stand-in.ts helm|crane ARGUMENTS`: what the pages of the examples ask of helm and crane, for a machine that has neither. */
const Chart = z.looseObject({ name: z.string(), version: z.string() });
const execute = promisify(execFile);

async function packChart(folder: string, destination: string): Promise<void> {
  const { name, version } = Chart.parse(load(await readFile(join(folder, "Chart.yaml"), "utf8")));
  await mkdir(destination, { recursive: true });
  const file = join(destination, `${name}-${version}.tgz`);
  await execute("tar", ["-czf", file, "-C", dirname(folder), basename(folder)]);
}

/** The index of the charts in a folder, whose files are called as {@link packChart} calls them. */
async function indexCharts(folder: string): Promise<void> {
  const archives = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  const entries = archives.map((archive): [string, object[]] => {
    const [, name = "", version = ""] = /^(.+)-(\d+\.\d+\.\d+)\.tgz$/.exec(archive) ?? [];
    return [name, [{ apiVersion: "v2", name, version, urls: [archive] }]];
  });
  const index = { apiVersion: "v1", entries: Object.fromEntries(entries), generated: new Date().toISOString() };
  await writeFile(join(folder, "index.yaml"), JSON.stringify(index));
}

async function push(archive: string, to: string): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), "sluice-chart-"));
  try {
    await execute("tar", ["-xzf", archive, "-C", scratch]);
    const [name = ""] = await readdir(scratch);
    const entries = await readdir(join(scratch, name), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const read = async (file: string) =>
      [file.slice(join(scratch, name).length + 1), await readFile(file, "utf8")] as const;
    const { host, pathname } = new URL(to);
    const repository = `${pathname.slice(1)}/${name}`;
    await pushChart(new Map(await Promise.all(files.map(read))), { host, repository }, untilDeadline());
  } finally {
    await rm(scratch, { recursive: true });
  }
}

/** An image of its own, since the one that is named is in the internet. */
async function copyImage(to: string): Promise<void> {
  const http = httpClient({ network: homeNetwork });
  try {
    await pushFiles(`oci://${to}`, { layer: to }, http, untilDeadline());
  } finally {
    http.close();
  }
}

const [program, command, first = "", second = "", third = ""] = process.argv.slice(2);
if (program === "helm" && command === "package") await packChart(first, second === "--destination" ? third : ".");
else if (program === "helm" && command === "repo" && first === "index") await indexCharts(second);
else if (program === "helm" && command === "push") await push(first, second);
else if (program === "crane" && command === "copy") await copyImage(second);
else throw new Error(`not known here: ${process.argv.slice(2).join(" ")}`);
