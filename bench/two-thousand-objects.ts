import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Figure, figure } from "./figure.ts";
import { watchPeak } from "./process-memory.ts";
import { configMap, sluiceUnderTest } from "./sluice-under-test.ts";

const objects = 2_000;
const runs = 5;

/** A Kustomization of 2,000 objects: an unchanged run, and the peak memory of the process that the handler runs in. */
export async function twoThousandObjects(): Promise<readonly Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-bench-host-"));
  const host = spawn(process.execPath, [join(import.meta.dirname, "kubernetes-host.ts"), folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const printed: readonly unknown[] = await once(createInterface({ input: host.stdout }), "line");
    await using sluice = await sluiceUnderTest(["--kubeconfig", String(printed[0])]);
    const peak = watchPeak(sluice.process.pid);
    await sluice.follow("many");
    await sluice.end("many", 1);
    const names = Array.from({ length: objects }, (_, index) => `many-${index}`);
    const files = Object.fromEntries(names.map((name) => [`${name}.yaml`, configMap(name, "1")]));
    const { revision } = await sluice.push("many", files);
    await sluice.ready("many", revision);
    const first = await sluice.applied("many");
    const unchanged: number[] = [];
    for (let run = 0; run < runs; run++) unchanged.push(await sluice.reconcile("many"));
    return [
      figure("2,000 objects, first apply, handler", "ms", [first]),
      figure("2,000 objects, first apply", "objects a second", [objects / (first / 1_000)]),
      figure("2,000 objects, unchanged, handler", "ms", unchanged, { of: "median", atMost: 300 }),
      figure("2,000 objects, peak memory of the handler's process", "MB", [peak.stop()], { of: "max", atMost: 256 }),
    ];
  } finally {
    host.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
}
