import { type TimeSlices, timeSlices } from "../../../core/concurrency.ts";
import { GitFault } from "../git-fault.ts";
import { foldedName, maxTreeDepth, maxTreeEntries, maxTreePathBytes, reasonAgainst } from "../git-tree.ts";
import type { NewObjects } from "./new-objects.ts";

/** The change of a name in a folder: a file gets new content, a file is removed, or a folder contains changes. */
type Change = { readonly content: Uint8Array | undefined } | { readonly folder: Changes };
type Changes = Map<string, Change>;

interface Entry {
  /** As it stands in the tree, so that an entry that is not changed keeps its bytes. */
  readonly mode: string;
  /** Each byte is a character: a name need not be UTF-8. */
  readonly name: string;
  readonly oid: string;
}

const folderMode = "40000";
const fileMode = "100644";
const oidBytes = 20;

/**
 * Changes files of a tree, writes the trees on the way to them, and answers the id of the new tree. A folder without entries goes, as
 * git has none. Throws a {@link GitFault} `tree` for a path that must not be written. It lets other work run now and then.
 *
 * @param root undefined in an empty repository
 * @param files new content by path; undefined: the file is removed, if it is there
 */
export async function changeTree(
  objects: NewObjects,
  root: string | undefined,
  files: ReadonlyMap<string, Uint8Array | undefined>,
  signal: AbortSignal,
): Promise<string> {
  const work = { objects, budget: { entries: maxTreeEntries }, slices: timeSlices(signal) };
  const changed = await changeFolder({ tree: root, changes: changesByFolder(files), path: "" }, work);
  return changed ?? objects.add("tree", new Uint8Array());
}

function changesByFolder(files: ReadonlyMap<string, Uint8Array | undefined>): Changes {
  const root: Changes = new Map();
  for (const [path, content] of files) {
    const names = checkedNames(path);
    const file = names.pop() ?? "";
    let at = root;
    for (const name of names) {
      const change = at.get(name) ?? { folder: new Map() };
      at.set(name, change);
      if (!("folder" in change)) throw refusal(path, "it lies below a file that is changed at the same time");
      at = change.folder;
    }
    if (at.has(file)) throw refusal(path, "a file below it is changed at the same time");
    at.set(file, { content });
  }
  return root;
}

function checkedNames(path: string): string[] {
  if (Buffer.byteLength(path) > maxTreePathBytes) {
    throw refusal(`${path.slice(0, 100)}…`, `the path has more than ${maxTreePathBytes} bytes`);
  }
  const names = path.split("/");
  if (names.length > maxTreeDepth) throw refusal(path, `folders are nested more than ${maxTreeDepth} deep`);
  for (const name of names) {
    const why = name.includes("\0") || !name.isWellFormed() ? "a name that is not text" : reasonAgainst(name);
    if (why !== undefined) throw refusal(path, `it has ${JSON.stringify(name)}, ${why}`);
  }
  return names;
}

interface Folder {
  readonly tree: string | undefined;
  readonly changes: Changes;
  /** With a slash at its end; empty for the root. */
  readonly path: string;
}

interface Work {
  readonly objects: NewObjects;
  /** How much more all trees together may have. */
  readonly budget: { entries: number };
  readonly slices: TimeSlices;
}

/** The id of the changed tree; undefined if nothing is left of it. */
async function changeFolder({ tree, changes, path }: Folder, work: Work): Promise<string | undefined> {
  const { objects, budget, slices } = work;
  const entries = new Map<string, Entry>();
  if (tree !== undefined) {
    for (const entry of entriesOf(await treeBytes(objects, tree), budget)) {
      if (slices.isOver()) await slices.pause();
      entries.set(entry.name, entry);
    }
  }
  const before = new Set(entries.keys());
  for (const [text, change] of changes) {
    const name = Buffer.from(text).toString("latin1");
    const entry = entries.get(name);
    const at = path + text;
    if ("folder" in change) {
      if (entry !== undefined && !isFolder(entry)) throw refusal(at, `it is ${kindOf(entry)}, not a folder`);
      const inner = { tree: entry?.oid, changes: change.folder, path: `${at}/` };
      const oid = await changeFolder(inner, work);
      if (oid === undefined) entries.delete(name);
      else entries.set(name, { mode: entry?.mode ?? folderMode, name, oid });
      continue;
    }
    if (change.content === undefined) {
      if (entry !== undefined && (isFolder(entry) || isSubmodule(entry))) throw refusal(at, `it is ${kindOf(entry)}`);
      entries.delete(name);
      continue;
    }
    if (entry !== undefined && !isFile(entry)) throw refusal(at, `it is ${kindOf(entry)}, not a file`);
    entries.set(name, { mode: entry?.mode ?? fileMode, name, oid: objects.add("blob", change.content) });
  }
  if (entries.size === 0) return undefined;
  const added = [...entries.keys()].filter((name) => !before.has(name));
  await assertDifferent(added, { entries, path }, slices);
  return objects.add("tree", await bytesOf([...entries.values()], slices));
}

/** A tree with two such names could not be read again: one of them would hide the other on some systems. */
async function assertDifferent(
  added: readonly string[],
  { entries, path }: { readonly entries: ReadonlyMap<string, Entry>; readonly path: string },
  slices: TimeSlices,
): Promise<void> {
  const textOf = (name: string): string => Buffer.from(name, "latin1").toString();
  const wanted = new Map<string, string>();
  for (const name of added) {
    const key = foldedName(textOf(name));
    const other = wanted.get(key);
    if (other !== undefined) throw alike(path, textOf(name), textOf(other));
    wanted.set(key, name);
  }
  if (wanted.size === 0) return;
  for (const name of entries.keys()) {
    if (slices.isOver()) await slices.pause();
    const own = wanted.get(foldedName(textOf(name)));
    if (own !== undefined && own !== name) throw alike(path, textOf(own), textOf(name));
  }
}

function alike(path: string, name: string, other: string): GitFault {
  return refusal(path + name, `it differs from '${path}${other}' only in case`);
}

function isFolder({ mode }: Entry): boolean {
  return plain(mode) === folderMode;
}

function isSubmodule({ mode }: Entry): boolean {
  return plain(mode) === "160000";
}

function isFile({ mode }: Entry): boolean {
  return plain(mode).startsWith("100");
}

function kindOf(entry: Entry): string {
  if (isFolder(entry)) return "a folder";
  if (isSubmodule(entry)) return "a submodule";
  return isFile(entry) ? "a file" : "a symbolic link";
}

function plain(mode: string): string {
  return mode.replace(/^0+/, "");
}

async function treeBytes(objects: NewObjects, oid: string): Promise<Buffer> {
  const { type, bytes } = await objects.read(oid);
  if (type !== "tree") throw new GitFault("protocol", `object ${oid} is a ${type}, not a tree`);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** `mode name NUL oid`, one after the other. */
function* entriesOf(bytes: Buffer, budget: { entries: number }): Generator<Entry, void, undefined> {
  for (let at = 0; at < bytes.length; ) {
    if (--budget.entries < 0) {
      throw new GitFault("too-large", `the folders to be changed have more than ${maxTreeEntries} files and folders`);
    }
    const [afterMode, afterName] = [bytes.indexOf(0x20, at), bytes.indexOf(0, at)];
    const end = afterName + 1 + oidBytes;
    if (afterMode === -1 || afterName < afterMode || end > bytes.length || afterMode - at > 16) {
      throw new GitFault("protocol", "a tree of the repository is damaged");
    }
    yield {
      mode: bytes.toString("latin1", at, afterMode),
      name: bytes.toString("latin1", afterMode + 1, afterName),
      oid: bytes.toString("hex", afterName + 1, end),
    };
    at = end;
  }
}

/** In git's order: by bytes, a folder as if a slash ended its name. */
async function bytesOf(entries: readonly Entry[], slices: TimeSlices): Promise<Buffer> {
  const keyed: { readonly key: string; readonly entry: Entry }[] = [];
  for (const entry of entries) {
    if (slices.isOver()) await slices.pause();
    keyed.push({ key: isFolder(entry) ? `${entry.name}/` : entry.name, entry });
  }
  // Nearly in order already, so that it takes little more than one look at each.
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
  const pieces: Buffer[] = [];
  for (const { entry } of keyed) {
    if (slices.isOver()) await slices.pause();
    pieces.push(Buffer.from(`${entry.mode} ${entry.name}\0`, "latin1"), Buffer.from(entry.oid, "hex"));
  }
  return Buffer.concat(pieces);
}

function refusal(path: string, why: string): GitFault {
  return new GitFault("tree", `the file ${JSON.stringify(path)} cannot be written to the repository: ${why}`);
}
