import { inTurns } from "../../core/in-turns.ts";
import { gzip } from "./gzip.ts";
import type { IgnorePattern } from "./ignore-pattern.ts";
import { type Ignore, ignoreBy, sourcePatterns } from "./ignore-rules.ts";
import { packTar } from "./pack-tar.ts";
import { inWalkOrder, type TreeEntry } from "./tree.ts";

const directoryMode = 0o750;
const fileMode = 0o600;
const executableMode = 0o700;
const anyExecuteBit = 0o111;
const ignoreFileName = ".sourceignore";
/** Of `spec.ignore` and all `.sourceignore` files together: no person writes a longer list. */
export const maxIgnoreBytes = 1024 * 1024;
/** Each is held against every path. */
export const maxPatterns = 2_000;
export const maxPatternLength = 1_024;
/** What holding all of them against all paths may take of the thread. */
export const maxIgnoringMs = 60_000;

/**
 * The artifact of a tree (reference 1.5): what the ignore rules leave of it, with modes normalised and no owner and time. A
 * pure function of names, bytes, execute bits and the rules, so an unchanged tree is an unchanged artifact.
 * Throws a `RangeError` where there are more rules than anybody writes.
 */
export async function archiveTree(
  entries: readonly TreeEntry[],
  specIgnore: string | undefined,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const patterns = sourcePatterns(ignoreFiles(entries, specIgnore), specIgnore);
  const kept = await keep(entries, ignoreBy(limited(patterns)), signal);
  return gzip(packTar(kept.map(normalised), directoryMode));
}

/** In turns: many rules and many files take a while. */
async function keep(entries: readonly TreeEntry[], ignore: Ignore, signal: AbortSignal): Promise<TreeEntry[]> {
  const kept: TreeEntry[] = [];
  const keepOne = (entry: TreeEntry): void => {
    if (!ignore(entry.path, entry.type === "directory")) kept.push(entry);
  };
  if (await inTurns(entries, keepOne, maxIgnoringMs, signal)) return kept;
  const rules = `spec.ignore and the ${ignoreFileName} files`;
  throw new RangeError(`${rules} take more than ${maxIgnoringMs / 1_000} s for ${entries.length} files and folders`);
}

function limited(patterns: readonly IgnorePattern[]): readonly IgnorePattern[] {
  if (patterns.length > maxPatterns) {
    throw new RangeError(`spec.ignore and the ${ignoreFileName} files have more than ${maxPatterns} patterns`);
  }
  const length = (pattern: IgnorePattern): number => pattern.names.reduce((sum, { text }) => sum + text.length, 0);
  if (patterns.some((pattern) => length(pattern) > maxPatternLength)) {
    throw new RangeError(`an ignore pattern has more than ${maxPatternLength} characters`);
  }
  return patterns;
}

function ignoreFiles(
  entries: readonly TreeEntry[],
  specIgnore: string | undefined,
): { readonly path: string; readonly text: string }[] {
  let bytes = 0;
  const count = (more: number): void => {
    bytes += more;
    if (bytes <= maxIgnoreBytes) return;
    throw new RangeError(`spec.ignore and the ${ignoreFileName} files have more than ${maxIgnoreBytes} bytes`);
  };
  count(Buffer.byteLength(specIgnore ?? ""));
  const found = entries.flatMap((entry) => {
    const names = entry.path.split("/");
    if (entry.type !== "file" || names.at(-1) !== ignoreFileName || names.includes(".git")) return [];
    count(entry.bytes.length);
    // Sorted by folder: a folder's own file comes before those of the folders in it.
    return [{ path: names.slice(0, -1).join("/"), file: entry.path, text: new TextDecoder().decode(entry.bytes) }];
  });
  return inWalkOrder(found).map(({ file, text }) => ({ path: file, text }));
}

function normalised(entry: TreeEntry): TreeEntry {
  if (entry.type === "directory") return { ...entry, mode: directoryMode };
  return { ...entry, mode: (entry.mode & anyExecuteBit) === 0 ? fileMode : executableMode };
}
