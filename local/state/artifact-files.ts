import { randomUUID } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Digest, digestOf } from "../../lib/core/digest.ts";
import type { ArtifactCollection, StoredArtifact } from "../../lib/core/ports/artifact-collection.ts";
import type { ArtifactStore } from "../../lib/core/ports/artifact-store.ts";
import type { Clock } from "../../lib/core/ports/clock.ts";
import { formatUnnamed, parseUnnamed } from "../../lib/core/unnamed-artifacts.ts";
import { namingFullDisk } from "./disk-full.ts";
import { verifiedFiles } from "./verified-files.ts";

/**
 * Artifacts as files under `folder`, named by their digest; the time of a file is when its artifact was last stored. Each is first
 * written under another name and then moved. Only one process may use the folder.
 */
export function artifactFiles(
  folder: string,
  clock: Pick<Clock, "now">,
  /** For tests that count. */
  readBytes: (file: string) => Promise<Uint8Array> = (file) => readFile(file),
): ArtifactStore & ArtifactCollection {
  const fileOf = (digest: Digest): string => {
    const hex = digest.slice("sha256:".length);
    return join(folder, hex.slice(0, 2), hex.slice(2));
  };
  const verified = verifiedFiles(clock, readBytes);
  const unnamedFile = join(folder, "unnamed");
  /** How many calls are storing each artifact now. */
  const storing = new Map<Digest, number>();

  const write = async (file: string, bytes: Uint8Array | string, signal: AbortSignal): Promise<void> => {
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
  };

  return {
    async put(digest, bytes, signal) {
      signal.throwIfAborted();
      const actual = digestOf(bytes);
      if (actual !== digest) throw new Error(`artifact ${digest} is not stored: its bytes hash to ${actual}`);
      const file = fileOf(digest);
      storing.set(digest, (storing.get(digest) ?? 0) + 1);
      try {
        if ((await verified.read(file, digest)) === undefined) await write(file, bytes, signal);
        const now = new Date(clock.now());
        await utimes(file, now, now);
      } finally {
        storing.set(digest, (storing.get(digest) ?? 1) - 1);
        if (storing.get(digest) === 0) storing.delete(digest);
      }
    },
    async get(digest, signal) {
      signal.throwIfAborted();
      return verified.read(fileOf(digest), digest);
    },
    async has(digest, signal) {
      signal.throwIfAborted();
      return verified.holds(fileOf(digest), digest);
    },
    async *list(signal) {
      for (const start of await namesIn(folder)) {
        signal.throwIfAborted();
        const page: StoredArtifact[] = [];
        for (const rest of await namesIn(join(folder, start))) {
          const digest = Digest.safeParse(`sha256:${start}${rest}`);
          if (!digest.success) continue;
          const { mtimeMs } = await stat(fileOf(digest.data));
          page.push({ digest: digest.data, storedAt: mtimeMs });
        }
        yield page;
      }
    },
    async remove({ digest, storedAt }, signal) {
      signal.throwIfAborted();
      const file = fileOf(digest);
      // Nothing of this process comes between the look and the deletion.
      if (storing.has(digest) || statSync(file, { throwIfNoEntry: false })?.mtimeMs !== storedAt) return false;
      rmSync(file);
      verified.forget(file);
      return true;
    },
    async unnamed(signal) {
      signal.throwIfAborted();
      return parseUnnamed(await readFile(unnamedFile, "utf8").catch(emptyIfMissing));
    },
    keepUnnamed: (unnamed, signal) => write(unnamedFile, formatUnnamed(unnamed), signal),
  };
}

/** Removes the unfinished files of a killed process. Called before the first write. */
export async function removeUnfinishedArtifacts(folder: string): Promise<void> {
  await rm(join(folder, "unfinished"), { recursive: true, force: true });
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error) || isNoFolder(error)) return [];
    throw error;
  }
}

function emptyIfMissing(error: unknown): string {
  if (isMissing(error)) return "";
  throw error;
}

function isNoFolder(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOTDIR";
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
