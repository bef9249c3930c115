import { cutText, someOf } from "../../core/cut-text.ts";

const maxNamed = 10;
const maxPathBytes = 200;

/**
 * What follows the message that a folder was not found, for users who mistyped its path: `; the artifact has the folders apps/base,
 * apps/prod`, which are those of the nearest folder that exists. Pure.
 *
 * @param where what was searched: `artifact`
 * @param folders all of its folders, by paths without a slash at either end
 */
export function presentFolders(where: string, path: string, folders: Iterable<string>): string {
  const known = new Set(folders);
  const parent = nearest(path, known);
  const named = parent === "" ? "folders" : `folders in ${cutText(parent, maxPathBytes)}`;
  return presentIn(where, { kind: "folders", none: named }, parent, known);
}

/** {@link presentFolders} for a file: the files of that kind, such as `YAML files`, in the nearest folder that exists. */
export function presentFiles(
  where: string,
  kind: string,
  path: string,
  { files, folders }: { readonly files: Iterable<string>; readonly folders: Iterable<string> },
  isOfKind: (path: string) => boolean,
): string {
  const parent = nearest(path, new Set(folders));
  const folder = parent === "" ? "its root folder" : cutText(parent, maxPathBytes);
  return presentIn(where, { kind, none: `${kind} in ${folder}` }, parent, [...files].filter(isOfKind));
}

/** `; the artifact has the charts charts/app, charts/web`, or that it has none. Pure. */
export function presentPaths(where: string, kind: string, paths: readonly string[]): string {
  if (paths.length === 0) return `; the ${where} has no ${kind}`;
  const shown = paths.toSorted().map((path) => cutText(path, maxPathBytes));
  return `; the ${where} has the ${kind} ${someOf(shown, maxNamed)}`;
}

function presentIn(
  where: string,
  { kind, none }: { readonly kind: string; readonly none: string },
  parent: string,
  paths: Iterable<string>,
): string {
  const inside = [...paths].filter((one) => one !== "" && folderOf(one) === parent);
  return presentPaths(where, inside.length === 0 ? none : kind, inside);
}

function nearest(path: string, folders: ReadonlySet<string>): string {
  let parent = folderOf(path);
  while (parent !== "" && !folders.has(parent)) parent = folderOf(parent);
  return parent;
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
