import { describe, expect, test } from "vitest";
import { maxNestedLinks } from "../../../../lib/sources/archive/follow-links.ts";
import { maxTreePathBytes } from "../../../../lib/sources/git/git-tree.ts";
import type { MemoryFile } from "../../../doubles/memory-git.ts";
import { gitWorld, manifest } from "./git-world.ts";

const { repository, status, artifact, conditions, condition, message, apply, run, stored } = gitWorld();
const determined = "failed to checkout and determine revision";

describe("spec.sparseCheckout", () => {
  const files = { "a/x.yaml": manifest, "a/b/y.yaml": manifest, "ab/z.yaml": manifest, "root.yaml": manifest };

  test("11.2/50: with ./a only files below a are fetched and archived", async () => {
    const commit = repository().commit(files);
    apply({ sparseCheckout: ["./a"] });
    await run();
    expect((await stored()).names).toEqual(["d 750 a", "d 750 a/b", "- 600 a/b/y.yaml", "- 600 a/x.yaml"]);
    expect(repository().asked).toContain(`fetch ${commit} only a`);
    expect(status()).toMatchObject({ observedSparseCheckout: ["./a"] });
  });

  test("takes a single file by its path, and all files with the root path", async () => {
    repository().commit(files);
    apply({ sparseCheckout: ["a/b/y.yaml"] });
    await run();
    expect((await stored()).names).toEqual(["d 750 a", "d 750 a/b", "- 600 a/b/y.yaml"]);
    for (const sparseCheckout of [["./"], ["./", "a"], ["a", "./"]]) {
      apply({ sparseCheckout });
      await run();
      expect((await stored()).names).toContain("- 600 root.yaml");
    }
    apply({ sparseCheckout: ["ab", "a/b"] });
    await run();
    expect((await stored()).names).toEqual(["d 750 a", "d 750 a/b", "- 600 a/b/y.yaml", "d 750 ab", "- 600 ab/z.yaml"]);
  });

  test.each([
    { path: "/b", isThere: false },
    { path: "../b", isThere: false },
    { path: "b//", isThere: false },
    { path: "b/../b", isThere: false },
    { path: "a.yaml/", isThere: false },
    { path: "b/", isThere: true },
    { path: "./b", isThere: true },
  ])("$path is looked up exactly as written", async ({ path, isThere }) => {
    repository().commit({ "a.yaml": manifest, "b/b.yaml": manifest });
    apply({ sparseCheckout: [path] });
    await run();
    expect(conditions()).toContain(isThere ? "Ready=True Succeeded" : "Ready=False GitOperationFailed");
  });

  test("11.2/49: a missing folder fails the run, and the message names the folder", async () => {
    repository().commit(files);
    apply({ sparseCheckout: ["missing"] });
    await run();
    expect(condition("FetchFailed")).toMatchObject({
      reason: "GitOperationFailed",
      message:
        "failed to sparse checkout directories : sparse checkout dir 'missing' does not exist in repository: lstat missing: no such file or directory",
    });
  });
});

describe("ignore rules", () => {
  test("11.1/18: the default rules exclude images, unless the repository has rules of its own", async () => {
    repository().commit({ "a.yaml": manifest, "logo.png": "x", "docs/b.md": "x" });
    apply();
    await run();
    expect((await stored()).names).toEqual(["- 600 a.yaml", "d 750 docs", "- 600 docs/b.md"]);
    repository().commit({ "a.yaml": manifest, "logo.png": "x", "docs/b.md": "x", ".sourceignore": "/docs/\n" });
    await run();
    expect((await stored()).names).toEqual(["- 600 .sourceignore", "- 600 a.yaml", "- 600 logo.png"]);
  });

  test("11.1/19: a spec.ignore with only comments keeps the default rules, and is recorded in the status", async () => {
    repository().commit({ "a.yaml": manifest, "logo.png": "x" });
    apply({ ignore: "# nothing\n" });
    await run();
    expect((await stored()).names).toEqual(["- 600 a.yaml"]);
    expect(status()).toMatchObject({ observedIgnore: "# nothing\n" });
  });

  test("too many rules fail with one clear error", async () => {
    repository().commit({ "a.yaml": manifest });
    apply({ ignore: "a\n".repeat(2_001) });
    await run();
    expect(conditions()).toContain("Ready=False SourceIgnoreError");
    expect(message()).toBe(
      "failed to load source ignore patterns from repository: spec.ignore and the .sourceignore files have more than 2000 patterns",
    );
  });
});

describe("symbolic links", () => {
  test("inside the tree are replaced by copies: to files, to folders, and through other links", async () => {
    repository().commit({
      "a.yaml": manifest,
      "base/b.yaml": "b\n",
      "base/run.sh": { exec: "run\n" },
      "link.yaml": { link: "./a.yaml" },
      "overlay/base": { link: "../base" },
      "overlay/far.sh": { link: "../again/run.sh" },
      again: { link: "overlay/base" },
    });
    apply();
    await run();
    const { names, files } = await stored();
    expect(names).toEqual([
      "- 600 a.yaml",
      "d 750 again",
      "- 600 again/b.yaml",
      "- 700 again/run.sh",
      "d 750 base",
      "- 600 base/b.yaml",
      "- 700 base/run.sh",
      "- 600 link.yaml",
      "d 750 overlay",
      "d 750 overlay/base",
      "- 600 overlay/base/b.yaml",
      "- 700 overlay/base/run.sh",
      "- 700 overlay/far.sh",
    ]);
    expect(files).toMatchObject({ "link.yaml": manifest, "again/b.yaml": "b\n", "overlay/far.sh": "run\n" });
  });

  test.each([
    { target: "../outside.yaml", why: "which leads out of the repository" },
    { target: "/etc/passwd", why: "which leads out of the repository" },
    { target: "nothing.yaml", why: "which does not exist in the repository" },
    { target: ".git/config", why: "which does not exist in the repository" },
    { target: "a.yaml/b", why: "which does not exist in the repository" },
    { target: ".", why: "which points to a folder that contains it" },
    { target: "l", why: "which leads round in a circle" },
  ])("to $target are refused by name, unless spec.ignore leaves them out", async ({ target, why }) => {
    repository().commit({ "a.yaml": manifest, l: { link: target } });
    apply();
    await run();
    expect(conditions()).toContain("FetchFailed=True GitOperationFailed");
    expect(message()).toBe(
      `${determined}: 'l' is a link to '${target}', ${why}: put a file in its place, or leave it out with spec.ignore`,
    );
    apply({ ignore: "/l\n" });
    await run();
    expect((await stored()).names).toEqual(["- 600 a.yaml"]);
  });

  test("that multiply files stop at the limit of files", async () => {
    const links = Object.fromEntries(
      Array.from({ length: 8 }, (_, at) =>
        Array.from({ length: 10 }, (_unused, each) => [`d${at}/l${each}`, { link: `../d${at + 1}` }] as const),
      ).flat(),
    );
    repository().commit({ ...links, "d8/a.yaml": manifest });
    apply();
    await run();
    expect(message()).toBe(
      `${determined}: with the targets of its links, the revision has more than 100000 files and folders`,
    );
  });

  test("that point to each other are refused before paths get too long", async () => {
    const chain = (length: number, name: string) =>
      Object.fromEntries(
        Array.from({ length }, (_, at): [string, MemoryFile][] => [
          [`d${at}/a.yaml`, manifest],
          ...(at + 1 < length ? [[`d${at}/${name}`, { link: `../d${at + 1}` }] satisfies [string, MemoryFile]] : []),
        ]).flat(),
      );
    repository().commit(chain(300, "n".repeat(200)));
    apply();
    await run();
    expect(message()).toContain(`${determined}: links point to a path of more than ${maxTreePathBytes} bytes: 'd`);
    repository().commit(chain(maxNestedLinks + 2, "n"));
    await run();
    expect(message()).toBe(
      `${determined}: 'd${maxNestedLinks}/n' is reached through more than ${maxNestedLinks} links in a row`,
    );
  });

  test("to a folder that contains a link back to it are refused", async () => {
    repository().commit({ "a/l": { link: "../b" }, "b/l": { link: "../a" } });
    apply();
    await run();
    expect(message()).toMatch(/is a link to '\.\.\/[ab]', which points to a folder that contains it/);
  });
});

describe("content that cannot be archived", () => {
  test("a Git LFS pointer is refused by name, unless spec.ignore excludes it", async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"0".repeat(64)}\nsize 12345\n`;
    repository().commit({ "a.yaml": manifest, "charts/big.tgz": pointer });
    apply();
    await run();
    expect(message()).toBe(
      `${determined}: 'charts/big.tgz' is a Git LFS pointer, and Sluice does not fetch what it points to: commit the file itself, or leave it out with spec.ignore`,
    );
    apply({ ignore: "*.tgz\n" });
    await run();
    expect((await stored()).names).toEqual(["- 600 a.yaml", "d 750 charts"]);
  });

  test.each([
    { files: { ".git/config": "x" }, says: `the tree has ".git"` },
    { files: { "a/.GIT/hooks/x": "x" }, says: `the tree has "a/.GIT"` },
    { files: { "../x": "x" }, says: `the tree has ".."` },
    { files: { "a\\b": "x" }, says: String.raw`the tree has "a\\b"` },
    { files: { "a.yaml": "x", "A.yaml": "x" }, says: "only in case" },
  ])("a tree with $files is refused by name, and the last artifact is kept", async ({ files, says }) => {
    repository().commit({ "a.yaml": manifest });
    apply();
    await run();
    const before = artifact();
    repository().commit(files);
    await run();
    expect(conditions()).toContain("FetchFailed=True GitOperationFailed");
    expect(message()).toContain(says);
    expect(artifact()).toEqual(before);
  });

  test("11.1/17: the same tree gives the same digest, and a changed execute bit another one", async () => {
    repository().commit({ "a.yaml": manifest, "b/c.yaml": "c" });
    apply();
    await run();
    const { digest } = artifact();
    apply({}, "other");
    repository().commit({ "b/c.yaml": "c", "a.yaml": manifest }, { message: "The same again\n", at: 1 });
    await run("other");
    expect(artifact("other").digest).toBe(digest);
    repository().commit({ "a.yaml": { exec: manifest }, "b/c.yaml": "c" });
    await run("other");
    expect(artifact("other").digest).not.toBe(digest);
  });
});

/** Each setting that decides what is in an artifact: a value, and the field of the status that shows it. */
const settings = {
  ignore: ["*.md", "observedIgnore"],
  include: [[{ repository: { name: "lib" } }], "observedInclude"],
  recurseSubmodules: [true, "observedRecurseSubmodules"],
  sparseCheckout: [["a"], "observedSparseCheckout"],
} as const;

test.each(Object.entries(settings))(
  "the artifact is rebuilt at the same revision when spec.%s is added, and when it is removed",
  async (field, [value, observed]) => {
    const lib = "https://git.example.test/lib.git";
    repository(lib).commit({ "lib.yaml": manifest });
    repository().commit({ "a/a.yaml": manifest });
    apply({ url: lib }, "lib");
    await run("lib");
    apply();
    const seen: unknown[] = [];
    for (const set of [null, value, null]) {
      repository().asked.length = 0;
      apply({ [field]: set });
      await run();
      await run();
      const fetches = repository().asked.filter((line) => line.startsWith("fetch"));
      seen.push([fetches.length, status()[observed]]);
    }
    expect(seen).toEqual([
      [1, undefined],
      [1, value],
      [1, undefined],
    ]);
  },
);
