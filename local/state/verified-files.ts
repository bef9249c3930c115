import { type BigIntStats, statSync } from "node:fs";
import { type Digest, digestOf } from "../../lib/core/digest.ts";
import type { Clock } from "../../lib/core/ports/clock.ts";

/**
 * A file may be changed twice at the same time by the clock of its file system: that of Linux ticks every 4 ms or so, and some file systems keep
 * whole seconds.
 */
const tickMs = 2_000;

/** Checks whether files have the content of a digest. */
export interface VerifiedFiles {
  /** The bytes of the file, if they hash to the digest. */
  read(file: string, digest: Digest): Promise<Uint8Array | undefined>;
  /** Whether {@link read} would return them. Reads the file only if it has changed since it was last read. */
  holds(file: string, digest: Digest): Promise<boolean>;
  /** To call when the file is removed. */
  forget(file: string): void;
}

/**
 * Remembers of each file what it was when it was verified: the same inode, size, time of the content, and time of the inode, which no program can
 * set. What was changed just before it was verified is not remembered, since it may be changed once more without a trace.
 */
export function verifiedFiles(
  clock: Pick<Clock, "now">,
  readBytes: (file: string) => Promise<Uint8Array>,
): VerifiedFiles {
  const verified = new Map<string, { readonly digest: Digest; readonly state: string }>();

  const read = async (file: string, digest: Digest): Promise<Uint8Array | undefined> => {
    const before = statSync(file, { bigint: true, throwIfNoEntry: false });
    verified.delete(file);
    if (before === undefined) return undefined;
    const isOld = Number(before.ctimeMs) < clock.now() - tickMs;
    const bytes = await readBytes(file).catch(undefinedIfMissing);
    if (bytes === undefined || digestOf(bytes) !== digest) return undefined;
    if (isOld) verified.set(file, { digest, state: stateOf(before) });
    return bytes;
  };

  return {
    read,
    async holds(file, digest) {
      const known = verified.get(file);
      if (known?.digest === digest) {
        const found = statSync(file, { bigint: true, throwIfNoEntry: false });
        if (found !== undefined && stateOf(found) === known.state) return true;
      }
      return (await read(file, digest)) !== undefined;
    },
    forget: (file) => void verified.delete(file),
  };
}

function stateOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}
