import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { type Figure, figure } from "./figure.ts";

const runs = 5;
const Measured = z.object({ ms: z.number(), megabytes: z.number(), version: z.literal("1.60.0") });

/** The index of a Helm repository of 20 MB, read and looked up, each time in a process of its own. */
export async function helmIndex(): Promise<readonly Figure[]> {
  const script = join(import.meta.dirname, "helm-index-process.ts");
  const found: z.infer<typeof Measured>[] = [];
  for (let run = 0; run < runs; run++) {
    const { stdout } = await promisify(execFile)(process.execPath, [script]);
    found.push(Measured.parse(JSON.parse(stdout)));
  }
  const name = "index of a Helm repository, 20 MB";
  const times = found.map(({ ms }) => ms);
  const memory = found.map(({ megabytes }) => megabytes);
  return [
    figure(`${name}, read and a range resolved`, "ms", times, { of: "median", atMost: 1_500 }),
    figure(`${name}, growth of memory`, "MB", memory, { of: "median", atMost: 150 }),
  ];
}
