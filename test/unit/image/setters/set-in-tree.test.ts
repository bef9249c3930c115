import { describe, expect, test } from "vitest";
import { maxLookups } from "../../../../lib/image/setters/follow-path.ts";
import { maxChangedBytes, maxChangesPerRun, setInTree } from "../../../../lib/image/setters/set-in-tree.ts";
import { link, type MemoryFile, treeOf } from "./memory-tree.ts";
import { images, mark } from "./set-file.ts";

const signal = new AbortController().signal;
const old = `image: old${mark("apps:web")}\n`;
const set = `image: registry.test/web:1.1.0${mark("apps:web")}\n`;

/** The changed files by path from the root, with the path that the report has and the text. */
async function changed(
  path: string,
  files: Readonly<Record<string, MemoryFile>>,
): Promise<Readonly<Record<string, readonly [path: string, text: string]>>> {
  const changes = await setInTree(treeOf(files), path, images, signal);
  expect(new Set(changes.files.map(({ pathFromRoot }) => pathFromRoot)).size).toBe(changes.files.length);
  return Object.fromEntries(
    changes.files.map((file) => [file.pathFromRoot, [file.path, Buffer.from(file.content).toString()]]),
  );
}

describe("image-automation/45, 48: the changed files", () => {
  test("have a YAML suffix or the name of a Kustomization file, in any folder", async () => {
    const files = {
      "a.yaml": old,
      "b.yml": old,
      "c/d/Kustomization": old,
      "e.json": old,
      "f.yaml.txt": old,
      yaml: old,
    };
    expect(Object.keys(await changed("", files))).toEqual(["a.yaml", "b.yml", "c/d/Kustomization"]);
  });

  test("are those with a marker of a selected image whose value differs", async () => {
    const files = {
      "a.yaml": "image: old\n",
      "b.yaml": set,
      "c.yaml": `image: old${mark("apps:unknown")}\n`,
      "d.yaml": old,
    };
    expect(await changed("", files)).toEqual({ "d.yaml": ["d.yaml", set] });
  });

  test("are none in an empty repository", async () => {
    expect(await changed("", {})).toEqual({});
  });

  test("image-automation/69: do not include an invalid YAML file, which is reported", async () => {
    const tree = treeOf({ "a/bad.yaml": `${old}@\n`, "b.yaml": old });
    const { files, unreadable } = await setInTree(tree, "", images, signal);
    expect(files.map(({ path }) => path)).toEqual(["b.yaml"]);
    expect(unreadable).toEqual(["a/bad.yaml"]);
  });
});

describe("image-automation/61: the path of an ImageUpdateAutomation", () => {
  const files = { "a.yaml": old, "apps/a.yaml": old, "apps/web/b.yaml": old, "apps-2/c.yaml": old };

  test.each([
    ["a folder", "apps", { "apps/a.yaml": "a.yaml", "apps/web/b.yaml": "web/b.yaml" }],
    ["a folder with a trailing slash", "./apps/", { "apps/a.yaml": "a.yaml", "apps/web/b.yaml": "web/b.yaml" }],
    ["a folder inside", "/apps/web", { "apps/web/b.yaml": "b.yaml" }],
    ["a file", "apps/web/b.yaml", { "apps/web/b.yaml": "b.yaml" }],
    ["a folder through another", "apps/../apps-2", { "apps-2/c.yaml": "c.yaml" }],
    ["a path above the root", "../../apps/web", { "apps/web/b.yaml": "b.yaml" }],
  ])("%s limits the changes, and the report has paths below it", async (_, path, expected) => {
    const found = Object.entries(await changed(path, files)).map(([from, [below]]) => [from, below]);
    expect(Object.fromEntries(found)).toEqual(expected);
  });

  test.each(["", ".", "/", "..", "../.."])("%j means the root", async (path) => {
    expect(Object.keys(await changed(path, files))).toEqual(Object.keys(files).toSorted());
  });

  test.each([
    ["missing", "missing"],
    ["apps/missing/../b", "apps/b"],
    ["a.yaml/b", "a.yaml/b"],
    ["gone", "nowhere"],
  ])("%s does not exist, which fails the run", async (path, shown) => {
    const tree = treeOf({ ...files, gone: link("nowhere") });
    const changes = setInTree(tree, path, images, signal);
    await expect(changes).rejects.toThrow(`walking path for files: lstat ${shown}: no such file or directory`);
  });

  test.each([
    ["itself", link("loop")],
    ["no text", link("")],
    ["a text that is not a path", link("x".repeat(5_000))],
  ])("a link to %s cannot be resolved, which fails the run", async (_, loop) => {
    await expect(setInTree(treeOf({ ...files, loop }), "loop/a", images, signal)).rejects.toThrow(
      "spec.update.path points to the link loop, which cannot be resolved: name its folder instead",
    );
  });

  test.each([
    ["a folder", link("apps/web"), "linked", "apps/web/b.yaml", "b.yaml"],
    ["a folder with a folder in it", link("apps"), "linked/web", "apps/web/b.yaml", "b.yaml"],
    ["a path above the root", link("../../apps/web"), "linked", "apps/web/b.yaml", "b.yaml"],
    ["a path from the root", link("/apps/web"), "linked", "apps/web/b.yaml", "b.yaml"],
    ["a file", link("apps/web/b.yaml"), "linked", "apps/web/b.yaml", "b.yaml"],
  ])("a link to %s is followed inside the repository", async (_, linked, path, from, below) => {
    expect(await changed(path, { ...files, linked })).toEqual({ [from]: [below, set] });
  });
});

describe("image-automation/61: links to files", () => {
  test("are followed: the target is changed once, and is reported by its own name if it is below the path", async () => {
    const files = { "a.yaml": link("b/real.yaml"), "b/real.yaml": old, "c.yaml": link("./b/../b/real.yaml") };
    expect(await changed("", files)).toEqual({ "b/real.yaml": ["b/real.yaml", set] });
  });

  test("with a target outside of the path change it under the name of the link", async () => {
    const files = { "apps/a.yaml": link("../common/web"), "common/web": old };
    expect(await changed("apps", files)).toEqual({ "common/web": ["a.yaml", set] });
  });

  test("to other links are followed", async () => {
    const files = { "a.yaml": link("b"), b: link("c/d.yaml"), c: link("e"), "e/d.yaml": old };
    expect(await changed("a.yaml", files)).toEqual({ "e/d.yaml": ["d.yaml", set] });
    expect(Object.keys(await changed("", files))).toEqual(["e/d.yaml"]);
  });

  test.each([
    ["out of the repository", "../real"],
    ["out of the repository and back into it", "../clone/../real"],
    ["to an absolute path", "/real"],
    ["to a folder", "folder.yaml"],
    ["to a missing target", "missing.yaml"],
    ["to itself", "a.yaml"],
    ["through a link out of the repository", "up/real"],
    ["through a link to an absolute path", "root/real"],
    ["into a file", "real/b"],
    ["to a text that is not a path", "x".repeat(5_000)],
    ["to no text", ""],
  ])("a link %s is not changed", async (_, target) => {
    const files = {
      "a.yaml": link(target),
      "folder.yaml/b.txt": old,
      real: old,
      up: link("../clone"),
      root: link("/"),
    };
    expect(await changed("", files)).toEqual({});
  });
});

describe("limits of an ImageUpdateAutomation's run", () => {
  test(`links are followed through at most ${maxLookups} files and folders`, async () => {
    const parts = Array.from({ length: maxLookups }, () => "b/..").join("/");
    const most = treeOf({ "b/a.yaml": old });
    const { files } = await setInTree(most, `${parts.slice(0, -"/b/..".length)}/b`, images, signal);
    expect(files).toHaveLength(1);
    await expect(setInTree(most, `${parts}/b`, images, signal)).rejects.toThrow(
      `spec.update.path and the links below it lead over more than ${maxLookups} files and folders: remove links to YAML files`,
    );
  });

  test(`changed files have at most ${maxChangedBytes} bytes in total`, async () => {
    const file = `${`---\n# ${"x".repeat(1_000_000)}\n`.repeat(4)}---\n${old}`;
    const count = Math.ceil(maxChangedBytes / Buffer.byteLength(file));
    const files = (many: number) => Object.fromEntries(Array.from({ length: many }, (_, at) => [`${at}.yaml`, file]));
    expect(Object.keys(await changed("", files(count - 1)))).toHaveLength(count - 1);
    await expect(changed("", files(count))).rejects.toThrow(`files of more than ${maxChangedBytes} bytes`);
  });

  test(`at most ${maxChangesPerRun} values are set`, async () => {
    const file = old.repeat(10_000);
    const files = Object.fromEntries(
      Array.from({ length: maxChangesPerRun / 10_000 }, (_, at) => [`${at}.yaml`, file]),
    );
    expect(Object.keys(await changed("", files))).toHaveLength(2);
    await expect(changed("", { ...files, "z.yaml": old })).rejects.toThrow(
      `change more than ${maxChangesPerRun} values`,
    );
  });

  test("an aborted run stops", async () => {
    const run = setInTree(treeOf({ "a.yaml": old }), "", images, AbortSignal.abort(new Error("enough")));
    await expect(run).rejects.toThrow("enough");
  });
});
