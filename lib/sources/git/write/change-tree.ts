import { GitFault } from "../git-fault.ts";
import { foldedName, maxTreeDepth, maxTreeEntries, maxTreePathBytes, reasonAgainst } from "../git-tree.ts";
import type { NewObjects } from "./new-objects.ts";

/** What becomes of a name in a folder: a file with new content, a file that is removed, or a folder with changes in it. */
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
 * git has none. Throws a {@link GitFault} `tree` for a path that must not be written.
 *
 * @param root undefined in an empty repository
 * @param files new content by path; undefined: the file is removed, if it is there
 */
export async function changeTree(
  objects: NewObjects,
  root: string | undefined,
  files: ReadonlyMap<string, Uint8Array | undefined>,
): Promise<string> {
  const budget = { entries: maxTreeEntries };
  const changed = await changeFolder(objects, { tree: root, changes: changesByFolder(files), path: "", budget });
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
  readonly budget: { entries: number };
}

/** The id of the changed tree; undefined if nothing is left of it. */
async function changeFolder(objects: NewObjects, { tree, changes, path, budget }: Folder): Promise<string | undefined> {
  const entries = new Map<string, Entry>();
  if (tree !== undefined) {
    for (const entry of entriesOf(await treeBytes(objects, tree), budget)) entries.set(entry.name, entry);
  }
  const before = new Set(entries.keys());
  for (const [text, change] of changes) {
    const name = Buffer.from(text).toString("latin1");
    const entry = entries.get(name);
    const at = path + text;
    if ("folder" in change) {
      if (entry !== undefined && !isFolder(entry)) throw refusal(at, `it is ${kindOf(entry)}, not a folder`);
      const inner = { tree: entry?.oid, changes: change.folder, path: `${at}/`, budget };
      const oid = await changeFolder(objects, inner);
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
  assertDifferent(added, entries, path);
  return objects.add("tree", bytesOf([...entries.values()]));
}

/** A tree with two such names could not be read again: one of them would hide the other on some systems. */
function assertDifferent(added: readonly string[], entries: ReadonlyMap<string, Entry>, path: string): void {
  if (added.length === 0) return;
  const textOf = (name: string): string => Buffer.from(name, "latin1").toString();
  const names = Map.groupBy(entries.keys(), (name) => foldedName(textOf(name)));
  for (const name of added) {
    const other = names.get(foldedName(textOf(name)))?.find((each) => each !== name);
    if (other !== undefined) {
      throw refusal(path + textOf(name), `it differs from '${path}${textOf(other)}' only in case`);
    }
  }
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
function bytesOf(entries: readonly Entry[]): Buffer {
  const keyed = entries.map((entry) => ({ entry, key: isFolder(entry) ? `${entry.name}/` : entry.name }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
  return Buffer.concat(
    keyed.flatMap(({ entry: { mode, name, oid } }) => [
      Buffer.from(`${mode} ${name}\0`, "latin1"),
      Buffer.from(oid, "hex"),
    ]),
  );
}

function refusal(path: string, why: string): GitFault {
  return new GitFault("tree", `the file ${JSON.stringify(path)} cannot be written to the repository: ${why}`);
}
