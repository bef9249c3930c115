/** A file or link of a commit, as a `GitClone` lists it. */
export interface TreeFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly type: "executable" | "file" | "symlink";
  /** For a link: its target. */
  read(): Promise<Uint8Array>;
}

/** The part of a `GitClone` that is read here. */
export interface FileTree {
  /** The files and links below a folder, or the one file. */
  files(folder: string, signal: AbortSignal): AsyncIterable<TreeFile>;
}

/** Files and folders that `spec.update.path` and all links of a run lead over. */
export const maxLookups = 200_000;
/** Links that lead to each other, as Linux has it. */
const maxHops = 40;
/** As Linux: no link has a longer text. */
const maxTargetBytes = 4_096;

/** Where a path may lead: `confined` takes the root for everything above it, `inside` gives such a path up. */
type Bounds = "confined" | "inside";

type Listing = ReadonlyMap<string, TreeFile | "folder">;

/** Follows paths and links of a tree. The whole tree is listed once, and only if there is a link to follow. */
export class PathFollower {
  readonly #tree: FileTree;
  readonly #signal: AbortSignal;
  #listing: Promise<Listing> | undefined;
  #lookups = 0;

  constructor(tree: FileTree, signal: AbortSignal) {
    this.#tree = tree;
    this.#signal = signal;
  }

  /** Resolves a path of the spec through links. The result may not exist, and is always inside of the tree. */
  async resolve(path: string): Promise<string> {
    const parts = path.split("/").filter((part) => part !== "" && part !== ".");
    if (!parts.includes("..") && (await this.#leadsOverNoLink(parts.join("/")))) return parts.join("/");
    return (await this.#follow([], path, "confined")) ?? "";
  }

  /** The file that a link points to; undefined if that is a folder, missing, or outside of the tree. */
  async targetOf(link: TreeFile): Promise<TreeFile | undefined> {
    const target = await targetText(link);
    if (target === undefined) return undefined;
    const path = await this.#follow(link.path.split("/").slice(0, -1), target, "inside");
    const entry = path === undefined ? undefined : await this.#entryAt(path);
    return entry === "folder" ? undefined : entry;
  }

  /** Whether there are files at or below this path. */
  async #leadsOverNoLink(path: string): Promise<boolean> {
    if (path === "") return true;
    for await (const file of this.#tree.files(path, this.#signal)) return file.path !== path || file.type !== "symlink";
    return false;
  }

  async #follow(from: readonly string[], path: string, bounds: Bounds): Promise<string | undefined> {
    let at = [...from];
    if (path.startsWith("/")) {
      if (bounds === "inside") return undefined;
      at = [];
    }
    const waiting = path.split("/").toReversed();
    let hops = 0;
    for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
      if (part === "" || part === ".") continue;
      if (part === "..") {
        if (at.length === 0 && bounds === "inside") return undefined;
        at.pop();
        continue;
      }
      at.push(part);
      const entry = await this.#entryAt(at.join("/"));
      if (entry === undefined && bounds === "inside") return undefined;
      if (entry === undefined || entry === "folder" || entry.type !== "symlink") continue;
      hops++;
      const target = await targetText(entry);
      const isOutside = target?.startsWith("/") === true && bounds === "inside";
      if (target === undefined || isOutside || hops > maxHops) {
        if (bounds === "inside") return undefined;
        throw new RangeError(
          `spec.update.path points to the link ${at.join("/")}, which cannot be resolved: name its folder instead`,
        );
      }
      at = target.startsWith("/") ? [] : at.slice(0, -1);
      waiting.push(...target.split("/").toReversed());
    }
    return at.join("/");
  }

  async #entryAt(path: string): Promise<TreeFile | "folder" | undefined> {
    if (path === "") return "folder";
    this.#lookups++;
    if (this.#lookups > maxLookups) {
      const what = `spec.update.path and the links below it lead over more than ${maxLookups} files and folders`;
      throw new RangeError(`${what}: remove links to YAML files`);
    }
    this.#listing ??= list(this.#tree, this.#signal);
    return (await this.#listing).get(path);
  }
}

async function list(tree: FileTree, signal: AbortSignal): Promise<Listing> {
  const listing = new Map<string, TreeFile | "folder">();
  for await (const file of tree.files("", signal)) {
    listing.set(file.path, file);
    for (let end = file.path.lastIndexOf("/"); end > 0; end = file.path.lastIndexOf("/", end - 1)) {
      const folder = file.path.slice(0, end);
      if (listing.has(folder)) break;
      listing.set(folder, "folder");
    }
  }
  return listing;
}

async function targetText(link: TreeFile): Promise<string | undefined> {
  const target = await link.read();
  return target.byteLength === 0 || target.byteLength > maxTargetBytes ? undefined : new TextDecoder().decode(target);
}
