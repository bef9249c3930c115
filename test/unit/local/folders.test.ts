import { existsSync } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeFolder } from "../../../local/folders.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-make-folder-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("makeFolder", () => {
  test("creates the folder and its parents, and accepts an existing folder", async () => {
    const path = join(folder, "a/b/c");
    await makeFolder(path);
    await makeFolder(path);
    expect((await stat(path)).isDirectory()).toBe(true);
  });

  test("refuses a file at the path", async () => {
    await writeFile(join(folder, "file"), "");
    await expect(makeFolder(join(folder, "file"))).rejects.toThrow("EEXIST");
    await expect(makeFolder(join(folder, "file/below"))).rejects.toThrow("ENOTDIR");
  });

  test.skipIf(!existsSync("/proc/self"))("refuses at once a place where no folder can be created", async () => {
    await expect(makeFolder("/proc/sluice/state")).rejects.toThrow("ENOENT");
  });
});
