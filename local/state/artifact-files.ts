import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Digest, digestOf } from "../../lib/core/digest.ts";
import type { ArtifactStore } from "../../lib/core/ports/artifact-store.ts";
import { namingFullDisk } from "./disk-full.ts";

/** Artifacts as files under `folder`, named by their digest. Each is first written under another name and then moved. */
export function artifactFiles(folder: string): ArtifactStore {
  const fileOf = (digest: Digest): string => {
    const hex = digest.slice("sha256:".length);
    return join(folder, hex.slice(0, 2), hex.slice(2));
  };
  return {
    async put(digest, bytes, signal) {
      signal.throwIfAborted();
      const actual = digestOf(bytes);
      if (actual !== digest) throw new Error(`artifact ${digest} is not stored: its bytes hash to ${actual}`);
      const file = fileOf(digest);
      if (await holds(file, digest)) return;
      const unfinished = join(folder, "unfinished", randomUUID());
      await mkdir(dirname(unfinished), { recursive: true });
      await mkdir(dirname(file), { recursive: true });
      try {
        await writeFile(unfinished, bytes, { signal });
        await rename(unfinished, file);
      } catch (error) {
        await rm(unfinished, { force: true });
        throw namingFullDisk(error, folder);
      }
    },
    async get(digest, signal) {
      signal.throwIfAborted();
      return wholeFile(fileOf(digest), digest);
    },
  };
}

/** Removes the unfinished files of a killed process. Called before the first write. */
export async function removeUnfinishedArtifacts(folder: string): Promise<void> {
  await rm(join(folder, "unfinished"), { recursive: true, force: true });
}

/**
 * Removes the artifacts that no source has a record of. Called before the first run: no artifact is being read then, and the next
 * run stores again what a killed run had stored and not yet recorded.
 */
export async function removeForgottenArtifacts(folder: string, recorded: ReadonlySet<string>): Promise<void> {
  for (const start of await namesIn(folder)) {
    for (const rest of await namesIn(join(folder, start))) {
      const digest = Digest.safeParse(`sha256:${start}${rest}`);
      if (digest.success && !recorded.has(digest.data)) await rm(join(folder, start, rest), { force: true });
    }
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error) || isNoFolder(error)) return [];
    throw error;
  }
}

async function holds(file: string, digest: Digest): Promise<boolean> {
  return (await wholeFile(file, digest)) !== undefined;
}

async function wholeFile(file: string, digest: Digest): Promise<Uint8Array | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  return digestOf(bytes) === digest ? bytes : undefined;
}

function isNoFolder(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOTDIR";
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
