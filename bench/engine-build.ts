import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kubectlEngine } from "../lib/kube/kubectl-engine.ts";
import { layerKubectl } from "../local/layer.ts";
import { type Figure, figure } from "./figure.ts";

const runs = 12;
const manifests = join(import.meta.dirname, "../examples/oddy-test/manifests");
const limits = { timeoutMs: 20_000, maxMemoryBytes: 2 ** 30, maxOutputBytes: 2 ** 26 };

/** The engine's process alone: the four objects listed in a kustomization.yaml, from its start to its end. */
export async function engineBuild(): Promise<readonly Figure[]> {
  const engine = kubectlEngine(await layerKubectl(() => undefined));
  const folder = await mkdtemp(join(tmpdir(), "sluice-bench-engine-"));
  try {
    await cp(manifests, folder, { recursive: true });
    const resources = ["deployment.yaml", "hpa.yaml", "pdb.yaml", "service.yaml"];
    await writeFile(join(folder, "kustomization.yaml"), JSON.stringify({ namePrefix: "bench-", resources }));
    const took: number[] = [];
    // The first run reads the program from the disk and is not counted.
    for (let run = 0; run <= runs; run++) {
      const at = performance.now();
      await engine.build(folder, limits, AbortSignal.timeout(limits.timeoutMs));
      if (run > 0) took.push(performance.now() - at);
    }
    return [figure("four objects, kustomization.yaml, engine process", "ms", took)];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
