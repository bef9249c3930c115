import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { engineLimits } from "../../lib/manifests/build/build-by-engine.ts";
import type { BuildSpec } from "../../lib/manifests/build-spec.ts";
import { testTimeoutMs } from "../deadline.ts";
import { generatedOverlay } from "../property/generated-overlay.ts";
import { generatedTree } from "../property/generated-tree.ts";
import { type Files, realEngine } from "../unit/manifests/build-files.ts";
import { buildEngineNative, engineNative } from "./build-clients.ts";

/** CI runs 2,000; each tree costs a process. */
const trees = Number(process.env["SLUICE_BUILD_TREES"] ?? "60");
const seed = Number(process.env["SLUICE_BUILD_SEED"] ?? "20261122");
const missing = await buildEngineNative();
const parent = await mkdtemp(join(tmpdir(), "sluice-native-"));
afterAll(() => rm(parent, { recursive: true, force: true }));

/** The output of the engine's code, compiled for this machine, for files on a disk. */
async function nativeOutput(files: Files, spec: BuildSpec): Promise<string> {
  const root = await mkdtemp(join(parent, "tree-"));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  const options = { maxBuffer: engineLimits.maxOutputBytes };
  const printed = await promisify(execFile)(engineNative, [root, "", JSON.stringify(spec)], options).then(
    ({ stdout }) => stdout,
    // kustomize prints warnings too, which the sandbox drops.
    (error: unknown) =>
      `refused: ${stderrOf(error)
        .replaceAll(/^(# |\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d )Warning: .*\n/gm, "")
        .trim()}`,
  );
  await rm(root, { recursive: true });
  return printed.replaceAll(`${root}/`, "").replaceAll(root, ".");
}

async function sandboxOutput(files: Files, spec: BuildSpec): Promise<string> {
  const paths = Object.keys(files);
  const folders = new Set(["", ...paths.flatMap(foldersOf)]);
  const map = new Map(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)]));
  const input = { tree: { files: map, folders }, folder: "", spec };
  return realEngine
    .build(input, engineLimits, new AbortController().signal)
    .catch((error: unknown) => `refused: ${error instanceof Error ? error.message.trim() : ""}`);
}

function foldersOf(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

function stderrOf(error: unknown): string {
  return error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
}

describe.skipIf(missing !== undefined)(`the engine's code, compiled for this machine${missing ?? ""}`, () => {
  const timeout = testTimeoutMs + trees * 500;

  test(`builds folders of plain YAML as in the sandbox (${trees / 2} trees, seed ${seed})`, { timeout }, () =>
    fc.assert(
      fc.asyncProperty(generatedTree, async ({ files, spec }) => {
        const byPath = Object.fromEntries(files.map(({ path, content }) => [path, content]));
        expect(await sandboxOutput(byPath, { ...spec })).toBe(await nativeOutput(byPath, { ...spec }));
      }),
      { numRuns: trees / 2, seed },
    ),
  );

  test(`builds overlays as in the sandbox (${trees / 2} trees, seed ${seed})`, { timeout }, async () => {
    let built = 0;
    await fc.assert(
      fc.asyncProperty(generatedOverlay, async ({ files, spec }) => {
        const printed = await sandboxOutput(files, spec);
        expect(printed).toBe(await nativeOutput(files, spec));
        if (!printed.startsWith("refused: ")) built++;
      }),
      { numRuns: trees / 2, seed },
    );
    // Two builders that refuse everything would agree.
    expect(built).toBeGreaterThan(trees / 8);
  });
});
