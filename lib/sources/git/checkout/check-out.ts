import { timeSlices } from "../../../core/concurrency.ts";
import type { UnreadEntry } from "../../archive/archive-tree.ts";
import type { ArchiveLimits } from "../../archive/unpack.ts";
import type { GitObjects } from "../git-remote.ts";
import { type TreeBudget, treeBudget, walkTree } from "../git-tree.ts";
import { CheckoutFault } from "./checkout-fault.ts";
import { addFolders, type WorkTree } from "./work-tree.ts";

/** A commit of another repository in the tree. */
export interface Gitlink {
  readonly path: string;
  readonly commit: string;
}

export interface CheckedOut {
  readonly tree: WorkTree;
  readonly gitlinks: readonly Gitlink[];
  /** The object of `.gitmodules`, even where it is not in one of the wanted folders. */
  readonly gitmodules?: string;
}

/** As in Linux, which follows no longer link. */
const maxLinkBytes = 4_096;

/**
 * The files below a tree object, at `at` in the work tree. With `folders`, only what lies in those. The contents stay in
 * `objects`, which has to be open until they are packed.
 */
export async function checkOut(
  objects: Pick<GitObjects, "read">,
  treeOid: string,
  {
    folders,
    root = "",
    budget = treeBudget(),
    signal,
  }: {
    readonly folders?: readonly string[] | undefined;
    /** The folder of a submodule in the work tree, with a slash at its end. */
    readonly root?: string;
    readonly budget?: TreeBudget;
    readonly signal: AbortSignal;
  },
): Promise<CheckedOut> {
  const tree: WorkTree = new Map();
  const gitlinks: Gitlink[] = [];
  let gitmodules: string | undefined;
  const slices = timeSlices(signal);
  // Where submodules come from is told at the root.
  const walked = folders === undefined ? {} : { folders: [...folders, ".gitmodules"] };
  const options = { root, budget, signal, ...walked };
  for await (const { path, type, oid } of walkTree(objects, treeOid, options)) {
    signal.throwIfAborted();
    if (slices.isOver()) await slices.pause();
    if (path === ".gitmodules" && (type === "file" || type === "executable")) gitmodules = oid;
    if (folders !== undefined && !folders.some((folder) => isWithin(path, folder))) continue;
    addFolders(tree, path);
    if (type === "directory" || type === "submodule") {
      tree.set(path, { type: "directory", path });
      if (type === "submodule") gitlinks.push({ path, commit: oid });
    } else if (type === "symlink") {
      const { bytes } = await objects.read(oid);
      if (bytes.length > maxLinkBytes)
        throw new CheckoutFault(`'${path}' is a link of more than ${maxLinkBytes} bytes`);
      tree.set(path, { type: "link", path, target: Buffer.from(bytes).toString() });
    } else {
      const mode = type === "executable" ? 0o755 : 0o644;
      tree.set(path, { type: "file", path, mode, read: () => contentOf(objects, oid, path) });
    }
  }
  return { tree, gitlinks, ...(gitmodules === undefined ? {} : { gitmodules }) };
}

function isWithin(path: string, folder: string): boolean {
  return folder === "" || path === folder || path.startsWith(`${folder}/`);
}

const lfsHead = Buffer.from("version https://git-lfs.github.com/spec/");
/** A pointer is smaller than this, says the specification. */
const maxPointerBytes = 1_024;

async function contentOf(objects: Pick<GitObjects, "read">, oid: string, path: string): Promise<Uint8Array> {
  const { bytes } = await objects.read(oid);
  if (bytes.length < maxPointerBytes && lfsHead.equals(bytes.subarray(0, lfsHead.length))) {
    const why = "a Git LFS pointer, and Sluice does not fetch what it points to";
    throw new CheckoutFault(`'${path}' is ${why}: commit the file itself, or leave it out with spec.ignore`);
  }
  return bytes;
}

const tarBlockBytes = 512;

/**
 * The entries with the limits that readers of the artifact have, so that none is stored that could not be unpacked: the `read` that
 * exceeds them throws a {@link CheckoutFault}, and so does a list that is too long.
 */
export function within(
  entries: readonly UnreadEntry[],
  { maxBytes, maxEntries }: Pick<ArchiveLimits, "maxBytes" | "maxEntries">,
): readonly UnreadEntry[] {
  if (entries.length > maxEntries) {
    throw new CheckoutFault(`the revision has more than ${maxEntries} files and folders`);
  }
  // A header for each, and the end.
  let bytes = (entries.length + 3) * tarBlockBytes;
  return entries.map((entry) => {
    if (entry.type === "directory") return entry;
    const read = async (): Promise<Uint8Array> => {
      const content = await entry.read();
      bytes += Math.ceil(content.length / tarBlockBytes) * tarBlockBytes;
      if (bytes <= maxBytes) return content;
      throw new CheckoutFault(
        `the files of the revision are more than ${maxBytes} bytes in a tar: leave some out with spec.ignore`,
      );
    };
    return { ...entry, read };
  });
}
