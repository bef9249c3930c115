import { mkdir, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defaultArchiveLimits } from "../../../lib/sources/archive/unpack.ts";
import { maxFolderBytes, maxFolderEntries, readFolder } from "../../../lib/sources/oci/read-folder.ts";

const every = { ignore: () => false, resolveSymlinks: false };
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-read-folder-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("a pushed folder has a limit on the bytes of all its files", async () => {
  await mkdir(join(folder, "sub"));
  await writeFile(join(folder, "a"), "x".repeat(600));
  await writeFile(join(folder, "sub/b"), "x".repeat(400));
  const { entries } = await readFolder(folder, { ...every, maxBytes: 1_000 });
  expect(entries).toHaveLength(3);
  await expect(readFolder(folder, { ...every, maxBytes: 999 })).rejects.toThrow(`${folder} has more than 999 bytes`);
});

test("a file that is too large is refused before it is read", async () => {
  const file = join(folder, "a");
  await writeFile(file, "");
  await truncate(file, maxFolderBytes + 1);
  await expect(readFolder(file, every)).rejects.toThrow(`has more than ${maxFolderBytes} bytes`);
  await expect(readFolder(folder, every)).rejects.toThrow(`has more than ${maxFolderBytes} bytes`);
});

test("a pushed folder has the artifact's limit on files and folders", async () => {
  await mkdir(join(folder, "sub"));
  await writeFile(join(folder, "sub/b"), "");
  await writeFile(join(folder, "a"), "");
  expect((await readFolder(folder, { ...every, maxEntries: 3 })).entries).toHaveLength(3);
  await expect(readFolder(folder, { ...every, maxEntries: 2 })).rejects.toThrow("more than 2 files and folders");
  expect(maxFolderEntries).toBe(defaultArchiveLimits.maxEntries);
});
