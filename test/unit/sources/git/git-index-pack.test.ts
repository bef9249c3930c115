import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defaultGitLimits } from "../../../../lib/sources/git/git-remote.ts";
import { receivePack } from "../../../../lib/sources/git/pack-file.ts";
import { openPack } from "../../../../lib/sources/git/pack-objects.ts";
import { never } from "../../../contract/state-back-end.ts";
import { type GitRepository, gitPrograms, gitRepository } from "../../../doubles/git-server.ts";
import { inPieces } from "./pack-of.ts";

/** The pack of a repository whose objects are all in it. */
async function packOfAll(repository: GitRepository, ...options: readonly string[]): Promise<Buffer> {
  const name = await repository.feed("", "pack-objects", "--all", "--no-reuse-delta", "-q", ...options, "objects/test");
  const folder = join(repository.root, "repository.git/objects");
  expect(await readdir(folder)).toContain(`test-${name}.pack`);
  return readFile(join(folder, `test-${name}.pack`));
}

/** What git itself finds in a pack: the ids with their types. */
async function indexedByGit(pack: Buffer): Promise<ReadonlyMap<string, string>> {
  await using other = await gitRepository();
  await other.feed(pack, "index-pack", "--stdin", "--strict");
  const all = await other.git("cat-file", "--batch-check=%(objectname) %(objecttype)", "--batch-all-objects");
  return new Map(all.split("\n").map((line) => [line.slice(0, 40), line.slice(41)]));
}

const text = fc.string({ unit: fc.constantFrom("a", "b\n", "kind: A\n", "  - x: 1\n", "\u00e9"), maxLength: 400 });
const name = fc.constantFrom("a.yaml", "b.yaml", "d/a.yaml", "d/e/c.yaml", "d/e/f.yaml", "g/a.yaml");
const commits = fc.array(fc.dictionary(name, text, { minKeys: 1, maxKeys: 6 }), { minLength: 1, maxLength: 6 });

describe.skipIf(gitPrograms === undefined)("a packfile of git", () => {
  test.each([
    ["with deltas by offset", ["--delta-base-offset", "--depth=50", "--window=50"]],
    ["with deltas by id", ["--depth=50", "--window=50"]],
    ["without deltas", ["--depth=0"]],
  ])("%s contains the same objects as git finds in it, for any files and commits", async (_, options) => {
    await fc.assert(
      fc.asyncProperty(commits, async (versions) => {
        await using repository = await gitRepository();
        for (const files of versions) await repository.commit(files);
        await repository.git("tag", "-a", "-m", "Release", "v1", "main");
        const pack = await packOfAll(repository, ...options);
        const expected = await indexedByGit(pack);
        const file = await receivePack(inPieces(pack, 1_000), defaultGitLimits);
        expect(file.objects).toBe(expected.size);
        await using objects = await openPack(file, defaultGitLimits, never);
        for (const [oid, type] of expected) expect((await objects.read(oid)).type).toBe(type);
        const blobs = [...expected].filter(([, type]) => type === "blob").slice(0, 5);
        for (const [oid] of blobs) {
          const { bytes } = await objects.read(oid);
          expect(await repository.feed(bytes, "hash-object", "--stdin")).toBe(oid);
        }
      }),
      { numRuns: 3 },
    );
  });
});
