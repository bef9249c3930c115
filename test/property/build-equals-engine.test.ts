import fc from "fast-check";
import { expect, test } from "vitest";
import { Failure } from "../../lib/core/failure.ts";
import { artifactTree } from "../../lib/manifests/artifact-tree.ts";
import { attemptPlain } from "../../lib/manifests/attempt-plain.ts";
import { buildByEngine } from "../../lib/manifests/build-by-engine.ts";
import { plainFiles } from "../../lib/manifests/plain-folder.ts";
import { artifactOf, realEngine } from "../unit/manifests/build-files.ts";
import { type GeneratedTree, generatedTree } from "./generated-tree.ts";

/** CI asks for 2,000; each tree costs a run of the engine. */
const trees = Number(process.env["SLUICE_BUILD_TREES"] ?? "120");
const seed = Number(process.env["SLUICE_BUILD_SEED"] ?? "20261121");

test(`what is built in process is what kustomize prints, byte for byte (${trees} trees, seed ${seed})`, {
  timeout: 60_000 + trees * 500,
}, async () => {
  let built = 0;
  const check = async ({ files, spec }: GeneratedTree): Promise<void> => {
    const archive = await artifactOf(Object.fromEntries(files.map(({ path, content }) => [path, content])));
    const tree = await artifactTree(archive, AbortSignal.timeout(60_000));
    const inOrder = (plainFiles(tree, "") ?? []).map((path) => ({
      path,
      content: tree.files.get(path) ?? new Uint8Array(),
    }));
    const outcome = attemptPlain(inOrder, spec);
    if (outcome.kind !== "built") return;
    built++;
    const expected = await buildByEngine(tree, "", spec, realEngine, AbortSignal.timeout(60_000));
    expect(outcome.build.text).toBe(expected.text);
    expect(outcome.build.objects).toEqual(expected.objects);
  };
  try {
    await fc.assert(fc.asyncProperty(generatedTree, check), { numRuns: trees, seed });
  } catch (error) {
    if (error instanceof Failure)
      throw new Error(`the engine refuses what was built: ${error.message}`, { cause: error });
    throw error;
  }
  // A builder that leaves everything to the engine would pass; this one has to do some of the work.
  expect(built).toBeGreaterThan(trees / 5);
});
