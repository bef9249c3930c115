import { timeSlices } from "../../core/concurrency.ts";
import { GitFault } from "./git-fault.ts";
import type { GitObjects } from "./git-remote.ts";

/** An entry of a tree. `submodule`: a commit of another repository. */
export interface GitTreeEntry {
  /** From the root of the walk, with `/` between names. */
  readonly path: string;
  readonly type: "directory" | "executable" | "file" | "submodule" | "symlink";
  readonly oid: string;
}

/** Of one budget. Trees can lead to the same tree many times, so that a small pack may hold a tree without end. */
export const maxTreeEntries = 100_000;
export const maxTreeDepth = 100;
export const maxTreePathBytes = 4_096;
/** The limit for all paths together. */
export const maxTreePathsBytes = 32 * 1024 * 1024;

/** How much more all trees of a revision together may have. A walk counts it down. */
export interface TreeBudget {
  entries: number;
  pathBytes: number;
}

export function treeBudget(): TreeBudget {
  return { entries: maxTreeEntries, pathBytes: maxTreePathsBytes };
}

/** Takes the bytes of a path from the budget. Throws a {@link GitFault} `too-large` if it does not have them. */
function spendPath(budget: TreeBudget, path: string, root: string): void {
  const bytes = Buffer.byteLength(root) + Buffer.byteLength(path);
  if (bytes > maxTreePathBytes) {
    const shown = `${root}${path}`.slice(0, 100);
    throw new GitFault("too-large", `the tree has a path of more than ${maxTreePathBytes} bytes: '${shown}…'`);
  }
  budget.pathBytes -= bytes;
  if (budget.pathBytes < 0) {
    throw new GitFault("too-large", `the paths of the tree have more than ${maxTreePathsBytes} bytes together`);
  }
}

const oidBytes = 20;

interface WalkOptions {
  readonly folders?: readonly string[];
  /** Where the tree lies in that of the revision, with a slash at its end: it counts in the length of paths. */
  readonly root?: string;
  readonly budget?: TreeBudget;
  readonly signal?: AbortSignal;
}

/**
 * All entries below a tree, a directory before what it holds. With `folders`, only those (each a folder or a file) with all that
 * is below them, and the directories on the way to them. Throws a {@link GitFault} `tree` that names the path of a name that must
 * not be checked out: `.git`, `..`, one with a backslash, one that is not UTF-8, or two in one folder that differ only in case. It lets
 * other work run now and then.
 */
export async function* walkTree(
  objects: Pick<GitObjects, "read">,
  tree: string,
  { folders, root = "", budget = treeBudget(), signal }: WalkOptions = {},
): AsyncGenerator<GitTreeEntry, void, undefined> {
  const isWanted = folders === undefined ? () => true : wantedBy(folders);
  // Directories whose entries are still to come, the next one last.
  const waiting: { readonly oid: string; readonly path: string; readonly depth: number }[] = [
    { oid: tree, path: "", depth: 0 },
  ];
  const slices = timeSlices(signal);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, depth } = next;
    if (path !== "") yield { path, type: "directory", oid: next.oid };
    if (depth > maxTreeDepth) throw new GitFault("too-large", `folders are nested more than ${maxTreeDepth} deep`);
    const directories: GitTreeEntry[] = [];
    for (const entry of entriesOf(await treeBytes(objects, next.oid), path, { root, budget })) {
      if (slices.isOver()) await slices.pause();
      if (!isWanted(entry)) continue;
      if (entry.type === "directory") directories.push(entry);
      else yield entry;
    }
    for (const { oid, path: inner } of directories.toReversed()) waiting.push({ oid, path: inner, depth: depth + 1 });
  }
}

/** Whether a path is in a wanted folder, or is a directory on the way to one. */
function wantedBy(folders: readonly string[]): (entry: GitTreeEntry) => boolean {
  const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
  return ({ path, type }) =>
    folders.some((folder) => isWithin(path, folder) || (type === "directory" && isWithin(folder, path)));
}

async function treeBytes(objects: Pick<GitObjects, "read">, oid: string): Promise<Uint8Array> {
  const { type, bytes } = await objects.read(oid);
  if (type !== "tree") throw new GitFault("protocol", `object ${oid} is a ${type}, not a tree`);
  return bytes;
}

/** As written by git, with zeros before it. */
const maxModeBytes = 16;

const types: Readonly<Record<string, GitTreeEntry["type"]>> = {
  40000: "directory",
  100644: "file",
  // Written by old versions of git.
  100664: "file",
  100755: "executable",
  120000: "symlink",
  160000: "submodule",
};

/**
 * The entries of one tree object: `mode name NUL oid`, one after the other. A tree may have millions of entries, so they are read one
 * by one.
 */
function* entriesOf(
  bytes: Uint8Array,
  folder: string,
  { root, budget }: { readonly root: string; readonly budget: TreeBudget },
): Generator<GitTreeEntry, void, undefined> {
  const seen = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    if (--budget.entries < 0) {
      throw new GitFault("too-large", `the tree has more than ${maxTreeEntries} files and folders`);
    }
    const [afterMode, afterName] = [bytes.indexOf(0x20, at), bytes.indexOf(0, at)];
    const end = afterName + 1 + oidBytes;
    const mode = Buffer.from(bytes.subarray(at, Math.min(afterMode, at + maxModeBytes))).toString("latin1");
    const type = types[mode.replace(/^0+/, "")];
    if (afterMode === -1 || afterName < afterMode || end > bytes.length || type === undefined) {
      throw new GitFault("protocol", `the tree of ${folder === "" ? "the root" : `'${folder}'`} is damaged`);
    }
    // One byte more than the limit, so that a name that is too long is refused before it is searched.
    const nameEnd = Math.min(afterName, afterMode + 1 + maxTreePathBytes + 1);
    const raw = bytes.subarray(afterMode + 1, nameEnd);
    const before = folder === "" ? "" : `${folder}/`;
    if (raw.length > maxTreePathBytes) spendPath(budget, Buffer.from(raw).toString("latin1"), root + before);
    const name = checkedName(raw, folder, seen);
    spendPath(budget, name, root + before);
    yield { path: before + name, type, oid: Buffer.from(bytes.subarray(afterName + 1, end)).toString("hex") };
    at = end;
  }
}

function checkedName(bytes: Uint8Array, folder: string, seen: Map<string, string>): string {
  const loose = new TextDecoder().decode(bytes);
  const refuse = (why: string): GitFault =>
    new GitFault("tree", `the tree has ${JSON.stringify(folder === "" ? loose : `${folder}/${loose}`)}, ${why}`);
  if (!Buffer.from(loose).equals(bytes)) throw refuse("a name that is not UTF-8");
  const why = reasonAgainst(loose);
  if (why !== undefined) throw refuse(why);
  const key = foldedName(loose);
  const other = seen.get(key);
  if (other === loose) throw refuse("which is in it twice");
  if (other !== undefined) throw refuse(`which differs from '${other}' only in case`);
  seen.set(key, loose);
  return loose;
}

/** Names with the same answer are one name on systems that do not tell case apart. */
export function foldedName(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

/** Code points that HFS+ leaves out when it compares names, as in git's `utf8.c`. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;

/** Why a tree must not have this name; undefined if it may. As git refuses them (`verify_path`, `fsck`), by the rules of all systems together, since the tree may be read on any. */
export function reasonAgainst(name: string): string | undefined {
  if (name === "") return "an empty name";
  if (name === "." || name === "..") return "which leads out of its folder";
  if (name.includes("/")) return "a name with a slash";
  if (name.includes("\\")) return "a name with a backslash, which separates folders elsewhere";
  // NTFS ignores dots and blanks at the end and what follows a colon, and knows `.git` by a short name too.
  const [before = ""] = name.replaceAll(ignoredByHfs, "").toLowerCase().split(":", 1);
  let end = before.length;
  while (before[end - 1] === " " || before[end - 1] === ".") end--;
  const plain = before.slice(0, end);
  return plain === ".git" || plain === "git~1" ? "which stands for the folder of git itself" : undefined;
}
