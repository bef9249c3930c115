import { timeSlices } from "../../core/concurrency.ts";
import type { UnreadEntry } from "./archive-tree.ts";

/** A symbolic link; `target` is its text. That of a hard link, as an archive has them, begins at the root. */
export interface Link {
  readonly type: "link";
  readonly path: string;
  readonly target: string;
  readonly isHard?: true;
}

export type LinkedEntry = UnreadEntry | Link;

/** Where the links are, as the messages say it, and how much they may copy. */
export interface LinkedTree {
  readonly entries: ReadonlyMap<string, LinkedEntry>;
  /** The word for the tree that links must not leave: `repository`, `archive`. */
  readonly root: string;
  /** The word for what contains the entries: `revision`, `archive`. */
  readonly whole: string;
  /** How the author can mend a link. */
  readonly mend: string;
  readonly maxEntries: number;
  /** The limit for a path, and for all of them together. */
  readonly maxPathBytes: number;
  readonly maxPathsBytes: number;
  readonly fault: (text: string) => Error;
}

/** As in Linux: a path over more links than this counts as endless. */
const maxHops = 40;

/** Parts of paths that all links together may lead over: a hundred for each of as many links as a tree may have, in a second. */
export const maxSteps = 2_000_000;

/** Links whose copies lie in each other. */
export const maxNestedLinks = 40;

/** A copy that is to be made. */
interface Copy {
  readonly entry: LinkedEntry;
  readonly at: string;
  /** Folders that are being copied, which a link inside must not lead to; one for each link on the way. */
  readonly open: ReadonlySet<string>;
}

/**
 * The tree with a copy of what each link leads to in its place. A link that leads out of the tree, to nothing or into itself
 * becomes a file that cannot be read, so that it fails only if the ignore rules keep it: its `read` throws a `fault` that names
 * it. Throws a `fault` if the copies have more than `maxEntries` entries, longer paths than they may have, or lie in each other
 * without end. It lets other work run now and then.
 */
export async function followLinks(tree: LinkedTree, signal: AbortSignal): Promise<readonly UnreadEntry[]> {
  const { whole, maxEntries, maxPathBytes, maxPathsBytes, fault } = tree;
  const entries = [...tree.entries.values()];
  if (entries.every(({ type }) => type !== "link")) return entries.filter(isUnread);
  const below = childrenOf(entries);
  const slices = timeSlices(signal);
  const budget: Budget = { steps: maxSteps, slices };
  const copied: UnreadEntry[] = [];
  let pathBytes = 0;
  const add = (entry: UnreadEntry): void => {
    const bytes = Buffer.byteLength(entry.path);
    pathBytes += bytes;
    if (bytes > maxPathBytes) {
      const shown = `'${entry.path.slice(0, 100)}…'`;
      throw fault(`links point to a path of more than ${maxPathBytes} bytes: ${shown}`);
    }
    if (pathBytes > maxPathsBytes) {
      const what = `with the targets of its links, the paths of the ${whole} have`;
      throw fault(`${what} more than ${maxPathsBytes} bytes together`);
    }
    copied.push(entry);
    if (copied.length <= maxEntries) return;
    throw fault(`with the targets of its links, the ${whole} has more than ${maxEntries} files and folders`);
  };

  const waiting: Copy[] = [];
  const addChildren = (folder: string, at: string, open: ReadonlySet<string>): void => {
    for (const child of (below.get(folder) ?? []).toReversed()) {
      waiting.push({ entry: child, at: at + child.path.slice(folder.length), open });
    }
  };
  addChildren("", "", new Set());
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { entry, at, open } = next;
    if (slices.isOver()) await slices.pause();
    if (entry.type !== "link") {
      add({ ...entry, path: at });
      if (entry.type === "directory") addChildren(entry.path, at, open);
      continue;
    }
    const end = await endOf(tree, entry, budget);
    if (typeof end === "string") {
      add(refused(tree, at, entry, end));
    } else if (end.type === "file") {
      add({ ...end, path: at });
    } else if (entry.path.startsWith(`${end.path}/`) || open.has(end.path)) {
      add(refused(tree, at, entry, "which points to a folder that contains it"));
    } else if (open.size >= maxNestedLinks) {
      throw fault(`'${entry.path}' is reached through more than ${maxNestedLinks} links in a row`);
    } else {
      add({ ...end, path: at });
      addChildren(end.path, at, new Set([...open, end.path]));
    }
  }
  return copied;
}

function isUnread(entry: LinkedEntry): entry is UnreadEntry {
  return entry.type !== "link";
}

function childrenOf(entries: readonly LinkedEntry[]): ReadonlyMap<string, readonly LinkedEntry[]> {
  const below = new Map<string, LinkedEntry[]>();
  for (const entry of entries) {
    const folder = entry.path.slice(0, Math.max(entry.path.lastIndexOf("/"), 0));
    const children = below.get(folder);
    if (children === undefined) below.set(folder, [entry]);
    else children.push(entry);
  }
  return below;
}

/** What following the links may still cost, all of them together. */
interface Budget {
  steps: number;
  readonly slices: ReturnType<typeof timeSlices>;
}

/** What a link leads to in the end, over other links too; a text says why it leads to nothing. Linear in the texts of the links. */
async function endOf(
  { entries, root, whole, fault }: LinkedTree,
  link: Link,
  budget: Budget,
): Promise<UnreadEntry | string> {
  const [outside, nothing] = [`which leads out of the ${root}`, `which does not exist in the ${root}`];
  if (link.target.startsWith("/")) return outside;
  let at = folderOf(link);
  let hops = 1;
  // The last part is the next one.
  const waiting = link.target.split("/").toReversed();
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (--budget.steps < 0) throw fault(`the links of the ${whole} lead over more than ${maxSteps} folders and links`);
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (at === "") return outside;
      at = at.slice(0, Math.max(at.lastIndexOf("/"), 0));
      continue;
    }
    const path = at === "" ? part : `${at}/${part}`;
    const found = entries.get(path);
    if (found === undefined) return nothing;
    if (found.type === "link") {
      if (found.target.startsWith("/")) return outside;
      if (++hops > maxHops) return "which leads round in a circle";
      if (budget.slices.isOver()) await budget.slices.pause();
      at = folderOf(found);
      for (const next of found.target.split("/").toReversed()) waiting.push(next);
    } else if (found.type === "file" && waiting.some((rest) => rest !== "")) {
      return nothing;
    } else {
      at = path;
    }
  }
  if (at === "") return "which points to a folder that contains it";
  const end = entries.get(at);
  return end === undefined || end.type === "link" ? nothing : end;
}

/** Where the text of a link begins. */
function folderOf({ path, isHard }: Link): string {
  return isHard === true ? "" : path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}

function refused({ mend, fault }: LinkedTree, at: string, { path, target }: Link, why: string): UnreadEntry {
  const text = `'${path}' is a link to '${target}', ${why}: ${mend}`;
  const read = async (): Promise<never> => {
    throw fault(text);
  };
  return { type: "file", path: at, mode: 0o644, read };
}
