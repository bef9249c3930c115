import type { EngineLimits } from "../lib/core/ports/engine.ts";
import type { RenderInput } from "../lib/core/ports/helm-engine.ts";
import { noTenant } from "../lib/core/tenant.ts";
import { helmModule, wasmHelm } from "../lib/engine/wasm-helm.ts";
import type { ChartFiles } from "../local/demo/push-chart.ts";
import { packed } from "../test/unit/sources/helm/charts.ts";
import { type Figure, figure } from "./figure.ts";
import { hookedChart, largeChart } from "./helm-charts.ts";
import { watchUse } from "./process-memory.ts";

/** The larger one first: what the other leaves behind would count as its memory. */
const charts = [
  { title: "333 objects with 40 definitions", files: largeChart, runs: 6, goalMs: 2_000, goalMb: 512 * 1.048_576 },
  { title: "61 objects with hooks", files: hookedChart, runs: 12, goalMs: 400 },
] as const;
const limits: EngineLimits = { maxCpuMs: 60_000, maxWallMs: 240_000, maxOutputBytes: 64 * 1024 * 1024 };

/** How long the engine takes to render two charts once it is warm, and the peak memory of this process with it. */
export async function helmRender(): Promise<readonly Figure[]> {
  const signal = new AbortController().signal;
  const figures: Figure[] = [];
  for (const { title, files, runs, goalMs, ...more } of charts) {
    const use = watchUse(process.pid);
    const helm = wasmHelm({ file: helmModule, threads: 1, idleMs: 60_000 });
    const input = await inputOf(files);
    const times: number[] = [];
    for (let run = 0; run <= runs; run++) {
      const start = performance.now();
      await helm.render(input, async () => undefined, limits, signal);
      times.push(performance.now() - start);
    }
    if ("goalMb" in more) {
      const limit = { of: "max", atMost: more.goalMb } as const;
      figures.push(figure(`${title}, render, peak memory with the engine`, "MB", [use().peakMb], limit));
    }
    await helm.close();
    const [first = Number.NaN, ...warm] = times;
    figures.push(figure(`${title}, render, the first of a process`, "ms", [first]));
    figures.push(figure(`${title}, render, warm`, "ms", warm, { of: "median", atMost: goalMs }));
  }
  return figures;
}

async function inputOf(files: ChartFiles): Promise<RenderInput> {
  return {
    tenant: noTenant,
    chart: await packed(Object.fromEntries(files)),
    versionSuffix: "",
    values: { from: [], inline: {} },
    release: { name: "bench", namespace: "default", revision: 1 },
    action: "install",
    postRender: {
      renderers: [],
      originLabels: { "helm.toolkit.fluxcd.io/name": "bench", "helm.toolkit.fluxcd.io/namespace": "default" },
      strategy: "combined",
    },
    kubeVersion: "v1.35.4",
    apiVersions: ["v1", "apps/v1", "apps/v1/Deployment"],
    skipsSchemaValidation: false,
  };
}
