import fc from "fast-check";
import { expect, test } from "vitest";
import { Failure } from "../../lib/core/failure.ts";
import { artifactTree, plainFiles } from "../../lib/manifests/artifact-tree.ts";
import { buildByEngine } from "../../lib/manifests/build/build-by-engine.ts";
import { attemptPlain } from "../../lib/manifests/build-plain.ts";
import { testTimeoutMs, untilDeadline } from "../deadline.ts";
import { artifactOf, realEngine } from "../unit/manifests/build-files.ts";
import { type GeneratedTree, generatedTree, patchedTree } from "./generated-tree.ts";
import { referringTree } from "./referring-tree.ts";
import { writtenPatch } from "./written-patch.ts";

/** CI runs 2,000; each tree costs a run of the engine. */
const trees = Number(process.env["SLUICE_BUILD_TREES"] ?? "120");
const seed = Number(process.env["SLUICE_BUILD_SEED"] ?? "20261121");

const asMuch = { timeout: testTimeoutMs + trees * 2_000 };

/** How many of the trees were built in process, each compared with the engine. */
async function builtAlike(generated: fc.Arbitrary<GeneratedTree>): Promise<number> {
  let built = 0;
  const check = async ({ files, spec }: GeneratedTree): Promise<void> => {
    const archive = await artifactOf(Object.fromEntries(files.map(({ path, content }) => [path, content])));
    const tree = await artifactTree(archive, {}, untilDeadline());
    const inOrder = (plainFiles(tree, "") ?? []).map((path) => ({
      path,
      content: tree.files.get(path) ?? new Uint8Array(),
    }));
    const outcome = attemptPlain(inOrder, spec);
    if (outcome.kind !== "built") return;
    built++;
    const expected = await buildByEngine(tree, "", spec, realEngine, untilDeadline());
    expect(outcome.build.text).toBe(expected.text);
    expect(outcome.build.objects).toEqual(expected.objects);
  };
  try {
    await fc.assert(fc.asyncProperty(generated, check), { numRuns: trees, seed });
  } catch (error) {
    if (error instanceof Failure)
      throw new Error(`the engine refuses what was built: ${error.message}`, { cause: error });
    throw error;
  }
  return built;
}

// A builder that leaves everything to the engine would pass; this one has to do some of the work.

test(
  `a build in process prints the same as kustomize, byte for byte (${trees} trees, seed ${seed})`,
  asMuch,
  async () => {
    expect(await builtAlike(generatedTree)).toBeGreaterThan(trees / 5);
  },
);

test(
  `a build with patches of the spec prints the same as kustomize (${trees} trees, seed ${seed})`,
  asMuch,
  async () => {
    expect(await builtAlike(patchedTree)).toBeGreaterThan(trees / 8);
  },
);

test(
  `a build with patches as people write them prints the same as kustomize (${trees} trees, seed ${seed})`,
  asMuch,
  async () => {
    expect(await builtAlike(writtenPatch)).toBeGreaterThan(trees / 8);
  },
);

test(
  `a build with references to renamed objects prints the same as kustomize (${trees} trees, seed ${seed})`,
  asMuch,
  async () => {
    expect(await builtAlike(referringTree)).toBeGreaterThan(trees / 3);
  },
);
