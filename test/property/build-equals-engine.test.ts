import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { EngineError } from "../../lib/core/ports/engine.ts";
import { kubectlEngine } from "../../lib/kube/kubectl-engine.ts";
import { artifactTree } from "../../lib/manifests/artifact-tree.ts";
import { attemptPlain } from "../../lib/manifests/attempt-plain.ts";
import { buildByEngine } from "../../lib/manifests/build-by-engine.ts";
import { plainFolder } from "../../lib/manifests/plain-folder.ts";
import { layerKubectl } from "../../local/layer.ts";
import { artifactOf } from "../unit/manifests/build-files.ts";
import { type GeneratedTree, generatedTree } from "./generated-tree.ts";

/** CI asks for 2,000; each tree costs a run of the engine. */
const trees = Number(process.env["SLUICE_BUILD_TREES"] ?? "120");
const seed = Number(process.env["SLUICE_BUILD_SEED"] ?? "20261121");

test(`what is built in process is what kustomize prints, byte for byte (${trees} trees, seed ${seed})`, {
  timeout: 60_000 + trees * 500,
}, async () => {
  const workFolder = await mkdtemp(join(tmpdir(), "sluice-trees-"));
  const engine = kubectlEngine(await layerKubectl(() => undefined));
  let built = 0;
  const check = async ({ files, spec }: GeneratedTree): Promise<void> => {
    const archive = await artifactOf(Object.fromEntries(files.map(({ path, content }) => [path, content])));
    const tree = await artifactTree(archive, AbortSignal.timeout(60_000));
    const plain = plainFolder(tree, "");
    const inOrder = plain.files.map((path) => ({ path, content: tree.files.get(path) ?? new Uint8Array() }));
    const outcome = attemptPlain(inOrder, spec);
    if (outcome.kind !== "built") return;
    built++;
    const expected = await buildByEngine(tree, "", spec, plain, { engine, workFolder }, AbortSignal.timeout(60_000));
    expect(outcome.build.text).toBe(expected.text);
    expect(outcome.build.objects).toEqual(expected.objects);
  };
  try {
    await fc.assert(fc.asyncProperty(generatedTree, check), { numRuns: trees, seed });
  } catch (error) {
    if (error instanceof EngineError)
      throw new Error(`the engine refuses what was built: ${error.message}`, { cause: error });
    throw error;
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
  // A builder that leaves everything to the engine would pass; this one has to do some of the work.
  expect(built).toBeGreaterThan(trees / 5);
});
