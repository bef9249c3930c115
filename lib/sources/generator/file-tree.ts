import type { UnreadEntry } from "../archive/archive-tree.ts";
import type { ArchiveLimits } from "../archive/unpack.ts";

/** A file whose content is read when it is needed. */
export interface TreeFile {
  readonly type: "file";
  readonly mode: number;
  readonly read: () => Promise<Uint8Array>;
}

type Node = TreeFile | { readonly type: "directory" };

/** Paths are relative, without `.` and `..`; the root is `.`. */
export class FileTree {
  readonly #nodes = new Map<string, Node>([[".", { type: "directory" }]]);
  readonly #children = new Map<string, { names: string[]; isSorted: boolean }>();
  readonly #limits: Pick<ArchiveLimits, "maxDepth" | "maxEntries" | "maxPathBytes">;

  constructor(limits: Pick<ArchiveLimits, "maxDepth" | "maxEntries" | "maxPathBytes">) {
    this.#limits = limits;
  }

  get(path: string): Node | undefined {
    return this.#nodes.get(path);
  }

  /** The names in a folder, sorted by their bytes. */
  namesIn(folder: string): readonly string[] {
    const children = this.#children.get(folder);
    if (children === undefined) return [];
    if (!children.isSorted) {
      children.names.sort(byBytes);
      children.isSorted = true;
    }
    return children.names;
  }

  /** Everything below a folder, each folder before what is in it, in the order of names. */
  *below(folder: string): Generator<string, void, undefined> {
    for (const name of this.namesIn(folder)) {
      const path = childOf(folder, name);
      yield path;
      if (this.#nodes.get(path)?.type === "directory") yield* this.below(path);
    }
  }

  /** Everything but the root. */
  entries(): readonly UnreadEntry[] {
    return [...this.#nodes].flatMap(([path, node]) => (path === "." ? [] : [{ ...node, path }]));
  }

  /** Adds a folder with those that it lies in. Throws an `Error` in Go's words where a file is in the way. */
  addFolder(path: string): void {
    const found = this.#nodes.get(path);
    if (found?.type === "file") throw new Error(`mkdirat ${path}: not a directory`);
    if (found === undefined) this.#add(path, { type: "directory" });
  }

  /** Adds or replaces a file. Throws an `Error` in Go's words where a folder has its name, or a file that of its folder. */
  addFile(path: string, file: TreeFile): void {
    if (this.#nodes.get(path)?.type === "directory") throw new Error(`openat ${path}: is a directory`);
    this.#add(path, file);
  }

  #add(path: string, node: Node): void {
    if (this.#nodes.has(path)) {
      this.#nodes.set(path, node);
      return;
    }
    const { maxDepth, maxEntries, maxPathBytes } = this.#limits;
    if (Buffer.byteLength(path) > maxPathBytes) {
      throw new RangeError(`a path has more than ${maxPathBytes} bytes: ${path.slice(0, 100)}...`);
    }
    if (path.split("/").length > maxDepth) {
      throw new RangeError(`folders are more than ${maxDepth} deep: ${path.slice(0, 100)}...`);
    }
    const slash = path.lastIndexOf("/");
    const folder = slash === -1 ? "." : path.slice(0, slash);
    this.addFolder(folder);
    if (this.#nodes.size > maxEntries) throw new RangeError(`more than ${maxEntries} files and folders`);
    this.#nodes.set(path, node);
    const children = this.#children.get(folder) ?? { names: [], isSorted: true };
    children.names.push(path.slice(slash + 1));
    children.isSorted = false;
    this.#children.set(folder, children);
  }
}

/** The tree of an archive. */
export function treeOf(entries: readonly UnreadEntry[], limits: ArchiveLimits): FileTree {
  const tree = new FileTree(limits);
  for (const { path, ...entry } of entries) {
    if (entry.type === "directory") tree.addFolder(path);
    else tree.addFile(path, entry);
  }
  return tree;
}

export function childOf(folder: string, name: string): string {
  return folder === "." ? name : `${folder}/${name}`;
}

/** As Go compares strings. */
export function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
