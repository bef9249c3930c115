import { posix } from "node:path";
import type { CopyOperation } from "../../api/artifact-generator.ts";
import { messageOf } from "../../core/failure.ts";
import { cleanPath } from "../../core/clean-path.ts";
import { excludesOf, type IsExcluded, literalFolder } from "./excludes.ts";
import { extractTarball, isTarball } from "./extract.ts";
import { childOf, FileTree } from "./file-tree.ts";
import type { Budget } from "./generator-limits.ts";
import { isGlob } from "./glob.ts";
import { globFiles, globRecursively } from "./glob-files.ts";
import { mergeFiles } from "./merge-yaml.ts";

/** One copy operation, from a source into an artifact. */
interface Copying {
  readonly source: FileTree;
  readonly staged: FileTree;
  readonly operation: CopyOperation;
  readonly isExcluded: IsExcluded;
  readonly budget: Budget;
}

/**
 * The files of an artifact: its operations in order, each as `cp` would do it (reference sources 10.3). Throws an `Error` in Flux's
 * words for the first operation that fails; also where a limit is exceeded, which is not Flux's.
 *
 * @param sources the content of each source, by alias
 */
export async function copyFiles(
  operations: readonly CopyOperation[],
  sources: ReadonlyMap<string, FileTree>,
  budget: Budget,
): Promise<FileTree> {
  const staged = new FileTree(budget.limits.archive);
  for (const operation of operations) {
    await budget.spend(1);
    try {
      await copyOne(operation, sources, staged, budget);
    } catch (error) {
      budget.signal.throwIfAborted();
      if (error instanceof TypeError) throw error;
      const { from, to } = operation;
      const what = `failed to apply copy operation from '${from}' to '${to}'`;
      throw new Error(`failed to apply copy operations: ${what}: ${messageOf(error)}`, { cause: error });
    }
  }
  return staged;
}

async function copyOne(
  operation: CopyOperation,
  sources: ReadonlyMap<string, FileTree>,
  staged: FileTree,
  budget: Budget,
): Promise<void> {
  const { alias, path } = sourceOf(operation.from);
  const source = sources.get(alias);
  if (source === undefined) throw new Error(`source alias '${alias}' not found`);
  const isExcluded = excludesOf(operation.exclude ?? [], budget);
  const copying = { source, staged, operation, isExcluded, budget };
  const to = operation.to.slice("@artifact/".length);
  if (isGlob(path)) await copyMatches(alias, path, to, copying);
  else await copySingle(path, to, copying);
}

/** Reads `@alias/path`. */
export function sourceOf(from: string): { readonly alias: string; readonly path: string } {
  const slash = from.indexOf("/");
  return { alias: from.slice(1, slash), path: from.slice(slash + 1) };
}

async function copyMatches(alias: string, pattern: string, to: string, copying: Copying): Promise<void> {
  const { budget, isExcluded, operation, source } = copying;
  const isExtract = operation.strategy === "Extract";
  const matches = await (isExtract ? globRecursively : globFiles)(source, pattern, budget);
  if (matches.length === 0) throw new Error(`no files match pattern '${pattern}' in source '${alias}'`);
  const base = literalFolder(pattern);
  const kept: string[] = [];
  for (const match of matches) if (!(await isExcluded(match, base))) kept.push(match);
  if (kept.length === 0) throw new Error(`all files matching pattern '${pattern}' in source '${alias}' were excluded`);
  for (const match of kept) {
    if (!isExtract) {
      const target = placeOf(pattern, match, to);
      await within(`failed to copy file '${match}' to '${target}'`, () => copyPath(match, target, base, copying));
      continue;
    }
    const file = source.get(match);
    if (file?.type !== "file" || !isTarball(match)) continue;
    const what = `failed to extract tarball '${match}' to '${to}'`;
    await within(what, () => extractTarball(match, file, inArtifact(to), copying.staged, budget));
  }
}

/** Where what a glob matches goes: with its whole path, or below the folder of `<folder>/**`. */
function placeOf(pattern: string, match: string, to: string): string {
  const folder = pattern.endsWith("/**") ? pattern.slice(0, -"**".length) : "";
  return joined(to, folder !== "" && match.startsWith(folder) ? match.slice(folder.length) : match);
}

async function copySingle(pattern: string, to: string, copying: Copying): Promise<void> {
  const { budget, isExcluded, operation, source, staged } = copying;
  const path = cleanPath(pattern);
  if (isOutside(path)) throw new Error(`failed to stat source '${path}': statat ${path}: path escapes from parent`);
  const found = source.get(path);
  if (found === undefined) throw new Error(`source '${path}' does not exist`);
  const isExtract = operation.strategy === "Extract";
  if (found.type === "directory") {
    if (isExtract) throw new Error(`extract strategy is not supported for directories, got '${path}'`);
    return copyPath(path, joined(to, posix.basename(path)), path, copying);
  }
  if (await isExcluded(path, ".")) return;
  if (isExtract) {
    if (!isTarball(path)) throw new Error(`extract strategy requires tarball file (.tar.gz or .tgz), got '${path}'`);
    return extractTarball(path, found, inArtifact(to), staged, budget);
  }
  const isFolder = to.endsWith("/") || to === "" || staged.get(cleanPath(to))?.type === "directory";
  return copyPath(path, isFolder ? joined(to, posix.basename(path)) : to, ".", copying);
}

/** A file, or a folder with all that is in it. */
async function copyPath(path: string, to: string, base: string, copying: Copying): Promise<void> {
  const { budget, isExcluded, operation, source, staged } = copying;
  const target = inArtifact(to);
  const found = source.get(path);
  if (found === undefined) throw new Error(`statat ${path}: no such file or directory`);
  if (found.type === "file") {
    const present = staged.get(target);
    if (operation.strategy !== "Merge" || present === undefined) return staged.addFile(target, found);
    if (present.type === "directory") throw new Error(`read ${target}: is a directory`);
    return staged.addFile(target, await mergeFiles(present, found, budget));
  }
  staged.addFolder(target);
  const waiting = [path];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const folders: string[] = [];
    for (const name of source.namesIn(folder)) {
      const inside = childOf(folder, name);
      await budget.spend(1);
      if (await isExcluded(inside, base)) continue;
      const node = source.get(inside);
      const place = childOf(target, path === "." ? inside : inside.slice(path.length + 1));
      if (node?.type === "file") staged.addFile(place, node);
      else {
        staged.addFolder(place);
        folders.push(inside);
      }
    }
    waiting.push(...folders.toReversed());
  }
}

async function within(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof TypeError) throw error;
    throw new Error(`${what}: ${messageOf(error)}`, { cause: error });
  }
}

/** The path in the artifact. Throws an `Error` in Go's words if it is not in it. */
function inArtifact(path: string): string {
  const target = cleanPath(path);
  if (isOutside(target)) throw new Error(`openat ${target}: path escapes from parent`);
  return target;
}

function isOutside(path: string): boolean {
  return path === ".." || path.startsWith("../") || path.startsWith("/");
}

function joined(...parts: readonly string[]): string {
  return cleanPath(posix.join(...parts));
}
