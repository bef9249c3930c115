import { unpack } from "../archive/unpack.ts";
import { childOf, type FileTree, type TreeFile } from "./file-tree.ts";
import type { Budget } from "./generator-limits.ts";

/** Whether a name is that of a tarball, in any case. */
export function isTarball(path: string): boolean {
  return /\.(tar\.gz|tgz)$/i.test(path);
}

/** Unpacks a tarball below a folder. Throws an `Error` that says why it cannot be unpacked; a symbolic link is a reason, as in Flux. */
export async function extractTarball(
  path: string,
  file: TreeFile,
  to: string,
  staged: FileTree,
  { limits, memory, signal }: Budget,
): Promise<void> {
  staged.addFolder(to);
  const { archive, maxExtractedBytes } = limits;
  const maxBytes = Math.min(maxExtractedBytes, memory.left);
  const unpacked = await unpack(await file.read(), { ...archive, maxBytes }, signal).catch((error: unknown) => {
    if (!(error instanceof RangeError)) throw error;
    throw new Error(`failed to extract tarball "${path}" to "${to}": ${error.message}`, { cause: error });
  });
  const link = unpacked.links.find(({ isHard }) => isHard !== true);
  if (link !== undefined) {
    const why = `tar file entry ${link.path} contained unsupported file type Lrwxrwxrwx`;
    throw new Error(`failed to extract tarball "${path}" to "${to}": ${why}`);
  }
  for (const entry of unpacked.entries) {
    const place = childOf(to, entry.path);
    if (entry.type === "directory") staged.addFolder(place);
    else {
      const { bytes, mode } = entry;
      memory.left -= bytes.length;
      staged.addFile(place, { type: "file", mode, read: async () => bytes });
    }
  }
}
