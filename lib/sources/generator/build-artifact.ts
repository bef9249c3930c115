import type { OutputArtifact } from "../../api/artifact-generator.ts";
import { type Digest, digestOf } from "../../core/digest.ts";
import { archiveByDefaults } from "../archive/archive-tree.ts";
import { treeChecksum } from "./adler32.ts";
import { copyFiles } from "./copy-files.ts";
import type { FileTree } from "./file-tree.ts";
import type { Budget } from "./generator-limits.ts";

/** An artifact that is made but not published. */
export interface BuiltArtifact {
  readonly bytes: Uint8Array;
  readonly digest: Digest;
  /** As Flux names it: `<checksum>.tar.gz`. */
  readonly filename: string;
}

/**
 * Makes the artifact of one output. The same sources and operations give the same bytes. Throws an `Error` in Flux's words, or a
 * `RangeError` for an exceeded limit.
 */
export async function buildArtifact(
  { name, copy }: Pick<OutputArtifact, "copy" | "name">,
  sources: ReadonlyMap<string, FileTree>,
  budget: Budget,
): Promise<BuiltArtifact> {
  const { left } = budget.memory;
  try {
    return await archive(name, await copyFiles(copy, sources, budget), budget);
  } finally {
    budget.memory.left = left;
  }
}

async function archive(name: string, tree: FileTree, budget: Budget): Promise<BuiltArtifact> {
  const checksum = await treeChecksum(tree, name, budget);
  const bytes = await archiveByDefaults(tree.entries(), budget.signal);
  const { maxPackedBytes } = budget.limits.archive;
  if (bytes.length > maxPackedBytes) {
    throw new RangeError(`the artifact has ${bytes.length} bytes, ${maxPackedBytes} are allowed: split it`);
  }
  return { bytes, digest: digestOf(bytes), filename: `${checksum}.tar.gz` };
}
