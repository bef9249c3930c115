import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type Figure, figure } from "./figure.ts";

const runs = 5;

/** From the end of `npm ci` to the end of the demo, which starts and stops a Sluice of its own. */
export async function demoTime(): Promise<readonly Figure[]> {
  const took: number[] = [];
  for (let run = 0; run < runs; run++) {
    const at = performance.now();
    const demo = spawn(process.execPath, [join(import.meta.dirname, "../local/demo/main.ts")], { stdio: "ignore" });
    await once(demo, "exit");
    if (demo.exitCode !== 0) throw new Error(`the demo ended with ${demo.exitCode}`);
    took.push(performance.now() - at);
  }
  return [figure("the demo, from start to end", "ms", took, { of: "median", atMost: 15_000 })];
}
