import { inTimeSlices } from "../../core/concurrency.ts";
import { type IgnorePattern, ignoreInSteps, parseIgnoreFile, sourcePatterns } from "./ignore-rules.ts";
import { gzip, packEnd, packEntry, packRoot, type TreeEntry } from "./pack-tar.ts";
import { inWalkOrder } from "./walk-order.ts";

const directoryMode = 0o750;
const fileMode = 0o600;
const executableMode = 0o700;
const anyExecuteBit = 0o111;
const ignoreFileName = ".sourceignore";
/** The limit for `spec.ignore` and all `.sourceignore` files together. */
export const maxIgnoreBytes = 1024 * 1024;
/** Each pattern is matched against every path. */
export const maxPatterns = 2_000;
export const maxPatternLength = 1_024;
/** With comments and empty lines. */
export const maxIgnoreLines = 20_000;
/** Time for matching all patterns against all paths. */
export const maxIgnoringMs = 60_000;

/** An entry whose content is read when its turn comes, and not at all if the ignore rules leave it out. */
export type UnreadEntry =
  | { readonly type: "directory"; readonly path: string }
  | {
      readonly type: "file";
      readonly path: string;
      readonly mode: number;
      readonly read: () => Promise<Uint8Array>;
    };

/**
 * The artifact of a tree (reference 1.5): the files that the ignore rules keep, with normalised modes and without owner and
 * time. It depends only on names, bytes, execute bits and the rules, so an unchanged tree gives the same artifact. Throws a
 * `RangeError` if the ignore rules exceed the limits above.
 */
export async function archiveTree(
  entries: readonly TreeEntry[],
  specIgnore: string | undefined,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const unread = entries.map((entry): UnreadEntry => {
    if (entry.type === "directory") return entry;
    const { bytes, ...file } = entry;
    return { ...file, read: async () => bytes };
  });
  return archiveUnread(unread, specIgnore, signal);
}

/** {@link archiveTree} for a tree that is too large for memory: only one file at a time is in memory. */
export async function archiveUnread(
  entries: readonly UnreadEntry[],
  specIgnore: string | undefined,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const files = await ignoreFiles(entries, specIgnore);
  // Before they are read, which takes a while for a million short ones.
  assertFewLines([...files.map(({ text }) => text), specIgnore ?? ""]);
  const kept = await keep(entries, limited(sourcePatterns(files, specIgnore)), signal);
  return gzip(pack(inWalkOrder(kept), signal));
}

/** The artifact of all of these files, whatever ignore rules they hold: for a source that has applied its rules before. */
export async function archiveWhole(entries: readonly UnreadEntry[], signal: AbortSignal): Promise<Uint8Array> {
  return gzip(pack(inWalkOrder(entries), signal));
}

/**
 * The patterns of these texts, in their order, for a source without default patterns and without `.sourceignore` files of folders. Throws
 * a `RangeError` if they exceed the limits above.
 */
export function patternsOf(texts: readonly string[]): readonly IgnorePattern[] {
  if (texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) > maxIgnoreBytes) throw tooManyBytes();
  assertFewLines(texts);
  return limited(texts.flatMap((text) => parseIgnoreFile(text)));
}

function tooManyBytes(): RangeError {
  return new RangeError(`spec.ignore and the ${ignoreFileName} files have more than ${maxIgnoreBytes} bytes`);
}

/** The artifact of a tree by the default rules alone: no field and no `.sourceignore` file changes them. */
export async function archiveByDefaults(entries: readonly UnreadEntry[], signal: AbortSignal): Promise<Uint8Array> {
  const kept = await keep(entries, sourcePatterns([], undefined), signal);
  return gzip(pack(inWalkOrder(kept), signal));
}

async function* pack(
  entries: readonly UnreadEntry[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield packRoot(directoryMode);
  for (const entry of entries) {
    signal.throwIfAborted();
    yield* packEntry(await read(entry));
  }
  yield packEnd();
}

/** With a normalised mode. */
async function read(entry: UnreadEntry): Promise<TreeEntry> {
  const { path } = entry;
  if (entry.type === "directory") return { type: "directory", path, mode: directoryMode };
  const mode = (entry.mode & anyExecuteBit) === 0 ? fileMode : executableMode;
  return { type: "file", path, mode, bytes: await entry.read() };
}

/** In time slices, since many rules and many files take a while, and so may all rules and one long path. */
async function keep(
  entries: readonly UnreadEntry[],
  patterns: readonly IgnorePattern[],
  signal: AbortSignal,
): Promise<UnreadEntry[]> {
  const kept: UnreadEntry[] = [];
  const ignore = ignoreInSteps(patterns);
  const steps = function* (): Generator<undefined, void, undefined> {
    for (const entry of entries) {
      if (!(yield* ignore(entry.path, entry.type === "directory"))) kept.push(entry);
      yield;
    }
  };
  if (await inTimeSlices(steps(), () => undefined, maxIgnoringMs, signal)) return kept;
  const rules = `spec.ignore and the ${ignoreFileName} files`;
  throw new RangeError(`${rules} take more than ${maxIgnoringMs / 1_000} s for ${entries.length} files and folders`);
}

function assertFewLines(texts: readonly string[]): void {
  let lines = 0;
  for (const text of texts) {
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) lines++;
  }
  if (lines <= maxIgnoreLines) return;
  throw new RangeError(`spec.ignore and the ${ignoreFileName} files have more than ${maxIgnoreLines} lines`);
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

async function ignoreFiles(
  entries: readonly UnreadEntry[],
  specIgnore: string | undefined,
): Promise<{ readonly path: string; readonly text: string }[]> {
  let bytes = 0;
  const count = (more: number): void => {
    bytes += more;
    if (bytes > maxIgnoreBytes) throw tooManyBytes();
  };
  count(Buffer.byteLength(specIgnore ?? ""));
  const found: { path: string; file: string; text: string }[] = [];
  for (const entry of entries) {
    const names = entry.path.split("/");
    if (entry.type !== "file" || names.at(-1) !== ignoreFileName || names.includes(".git")) continue;
    const content = await entry.read();
    count(content.length);
    // Sorted by folder below: a folder's own file comes before those of its subfolders.
    found.push({ path: names.slice(0, -1).join("/"), file: entry.path, text: new TextDecoder().decode(content) });
  }
  return inWalkOrder(found).map(({ file, text }) => ({ path: file, text }));
}
