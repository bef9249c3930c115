import { afterAll, describe, expect, test } from "vitest";
import type { EngineInput } from "../../../lib/core/ports/engine.ts";
import { kustomizeModule, wasmEngine } from "../../../lib/engine/wasm-engine.ts";
import { engineLimits } from "../../../lib/manifests/build/build-by-engine.ts";
import { configMap } from "../manifests/build-files.ts";

const forever = new AbortController().signal;
const engine = wasmEngine({ file: kustomizeModule, threads: 1, idleMs: 60_000 });
afterAll(() => engine.close());

function inputOf(files: Readonly<Record<string, string>>): EngineInput {
  const map = new Map(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)]));
  return { tree: { files: map, folders: new Set([""]) }, folder: "", spec: {} };
}

const small = inputOf({ "kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": configMap("a") });
const printed = configMap("a").length;

describe("limits on a build by kustomize", () => {
  test("apply to the bytes that it prints", async () => {
    const build = (maxOutputBytes: number) => engine.build(small, { ...engineLimits, maxOutputBytes }, forever);
    expect(await build(printed + 1)).toHaveLength(printed);
    expect(await build(printed)).toHaveLength(printed);
    await expect(build(printed - 1)).rejects.toMatchObject({ reason: "output" });
  });

  test("apply to its wall-clock time, whatever its processor time is", async () => {
    const count = 3_000;
    const numbers = Array.from({ length: count }, (_, index) => index);
    const replacement = (index: number): string =>
      `- source: {kind: ConfigMap, name: c${index}, fieldPath: metadata.name}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.k], options: {create: true}}]\n`;
    const endless = inputOf({
      "kustomization.yaml": `resources: [a.yaml]\nreplacements:\n${numbers.map(replacement).join("")}`,
      "a.yaml": numbers.map((index) => configMap(`c${index}`)).join("---\n"),
    });
    const building = engine.build(endless, { ...engineLimits, maxWallMs: 800 }, forever);
    await expect(building).rejects.toMatchObject({ reason: "time", message: "no result within 0.8 s" });
    expect(await engine.build(small, engineLimits, forever)).toHaveLength(printed);
  });
});
