import { byBytes, type FileTree } from "./file-tree.ts";
import type { Budget } from "./generator-limits.ts";

const modulus = 65_521;
/** Bytes after which the sums have to be reduced before they exceed what a double holds exactly. */
const chunkBytes = 5_552;

/** The Adler-32 checksum, unsigned. */
export function adler32(bytes: Uint8Array): number {
  let a = 1;
  let b = 0;
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const end = Math.min(at + chunkBytes, bytes.length);
    for (let index = at; index < end; index++) {
      a += bytes[index] ?? 0;
      b += a;
    }
    a %= modulus;
    b %= modulus;
  }
  return b * 65_536 + a;
}

/**
 * The checksum of a tree by which Flux names the file of an artifact: over the checksum and the name of every file, below the name of
 * the artifact. Throws an `Error` for a name with a line break, and a `RangeError` for files that are too large together.
 */
export async function treeChecksum(tree: FileTree, name: string, budget: Budget): Promise<string> {
  const lines: string[] = [];
  let total = 0;
  const { maxBytes } = budget.limits.archive;
  const files = tree.entries().filter((entry) => entry.type === "file");
  for (const file of files.toSorted((a, b) => byBytes(a.path, b.path))) {
    if (file.path.includes("\n"))
      throw new Error("failed to hash staging dir: filenames with newlines are not supported");
    const bytes = await file.read();
    total += bytes.length;
    if (total > maxBytes) throw new RangeError(`the files of the artifact have more than ${maxBytes} bytes together`);
    await budget.spend(bytes.length / 64);
    lines.push(`${adler32(bytes).toString(16)}  ${name}/${file.path}\n`);
  }
  return String(adler32(Buffer.from(lines.join(""))));
}
