import { gzip } from "./gzip.ts";
import { ignoreBy, sourcePatterns } from "./ignore-rules.ts";
import { packTar } from "./pack-tar.ts";
import { inWalkOrder, type TreeEntry } from "./tree.ts";

const directoryMode = 0o750;
const fileMode = 0o600;
const executableMode = 0o700;
const anyExecuteBit = 0o111;
const ignoreFileName = ".sourceignore";

/**
 * The artifact of a tree (reference 1.5): what the ignore rules leave of it, with modes normalised and no owner and time. A
 * pure function of names, bytes, execute bits and the rules, so an unchanged tree is an unchanged artifact.
 */
export async function archiveTree(entries: readonly TreeEntry[], specIgnore: string | undefined): Promise<Uint8Array> {
  const ignore = ignoreBy(sourcePatterns(ignoreFiles(entries), specIgnore));
  const kept = entries.filter(({ path, type }) => !ignore(path, type === "directory"));
  return gzip(packTar(kept.map(normalised), directoryMode));
}

function ignoreFiles(entries: readonly TreeEntry[]): { path: string; text: string }[] {
  const found = entries.flatMap((entry) => {
    const names = entry.path.split("/");
    if (entry.type !== "file" || names.at(-1) !== ignoreFileName || names.includes(".git")) return [];
    // Sorted by folder: a folder's own file comes before those of the folders in it.
    return [{ path: names.slice(0, -1).join("/"), file: entry.path, text: new TextDecoder().decode(entry.bytes) }];
  });
  return inWalkOrder(found).map(({ file, text }) => ({ path: file, text }));
}

function normalised(entry: TreeEntry): TreeEntry {
  if (entry.type === "directory") return { ...entry, mode: directoryMode };
  return { ...entry, mode: (entry.mode & anyExecuteBit) === 0 ? fileMode : executableMode };
}
