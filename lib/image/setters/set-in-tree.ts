import { posix } from "node:path";
import { type TimeSlices, timeSlices } from "../../core/concurrency.ts";
import type { ChosenImage, FileChange } from "../image-change.ts";
import { type FileTree, PathFollower, type TreeFile } from "./follow-path.ts";
import { settingImages } from "./set-images.ts";
import { isSetterFile } from "./setter-file.ts";

/** The limit for all files that the markers of a run change, after the change. */
export const maxChangedBytes = 32 * 1_048_576;
/** Scalars that the markers of a run set. */
export const maxChangesPerRun = 20_000;

/** A file that markers change, with its path from the root of the repository; `path` is the one below `spec.update.path`. */
export interface ChangedFile extends FileChange {
  readonly pathFromRoot: string;
}

/** The changes in a tree, in the order of its files. */
export interface TreeChanges {
  readonly files: readonly ChangedFile[];
  /** Paths from the root of files with the field of a marker that are not YAML of objects: none of their markers is set. */
  readonly unreadable: readonly string[];
}

/**
 * Sets the images in the files below a path of a tree, the one of `spec.update.path`: links in it are followed, and it leads nowhere
 * out of the tree. A file that a link leads to is changed itself, once; a link that leads out of the tree, or to a folder, is left.
 *
 * @throws RangeError if nothing is at the path, or a file with markers is beyond a limit
 */
export async function setInTree(
  tree: FileTree,
  path: string,
  images: ReadonlyMap<string, ChosenImage>,
  signal: AbortSignal,
): Promise<TreeChanges> {
  const slices = timeSlices(signal);
  const follower = new PathFollower(tree, signal);
  const root = await follower.resolve(path);
  const seen = new Set<string>();
  const found = new Found();
  let isEmpty = true;
  for await (const entry of tree.files(root, signal)) {
    isEmpty = false;
    if (slices.isOver()) await slices.pause();
    if (!isSetterFile(entry.path)) continue;
    const file = entry.type === "symlink" ? await follower.targetOf(entry) : entry;
    if (file === undefined || seen.has(file.path)) continue;
    seen.add(file.path);
    const shown = pathBelow(root, file.path) ?? pathBelow(root, entry.path) ?? entry.path;
    found.add(file.path, await setInFile(file, shown, images, slices));
  }
  if (isEmpty && root !== "") {
    throw new RangeError(`walking path for files: lstat ${root}: no such file or directory`);
  }
  return found;
}

class Found implements TreeChanges {
  readonly files: ChangedFile[] = [];
  readonly unreadable: string[] = [];
  #bytes = 0;
  #count = 0;

  add(pathFromRoot: string, change: FileChange | "unreadable" | undefined): void {
    if (change === undefined) return;
    if (change === "unreadable") {
      this.unreadable.push(pathFromRoot);
      return;
    }
    this.files.push({ ...change, pathFromRoot });
    this.#bytes += change.content.byteLength;
    for (const { changes } of change.objects) this.#count += changes.length;
    if (this.#bytes > maxChangedBytes) throw tooMuch(`files of more than ${maxChangedBytes} bytes`);
    if (this.#count > maxChangesPerRun) throw tooMuch(`more than ${maxChangesPerRun} values`);
  }
}

function tooMuch(what: string): RangeError {
  return new RangeError(`image policy markers change ${what}: set spec.update.path of several automations instead`);
}

async function setInFile(
  file: TreeFile,
  path: string,
  images: ReadonlyMap<string, ChosenImage>,
  slices: TimeSlices,
): Promise<FileChange | "unreadable" | undefined> {
  const steps = settingImages({ path, content: await file.read() }, images);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    if (slices.isOver()) await slices.pause();
  }
}

/** For a path of a file: its name. Undefined if the path is elsewhere. */
function pathBelow(root: string, path: string): string | undefined {
  if (root === "") return path;
  if (path === root) return posix.basename(path);
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
}
