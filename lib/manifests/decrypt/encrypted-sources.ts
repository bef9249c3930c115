import { CORE_SCHEMA, constructFromEvents, mergeTag, parseEvents, YAMLException } from "js-yaml";
import { messageOf } from "../../core/failure.ts";
import { isJsonObject } from "../../core/json.ts";
import type { FileTree } from "../../core/ports/engine.ts";
import { formatOfName, type SopsFormat } from "../../sops/format.ts";
import { pace, type Steps } from "../../sops/steps.ts";
import { refuseAliasBomb } from "../alias-bomb.ts";
import { confined, hasKustomizationFile, joinPath, kustomizationFileNames } from "../artifact-tree.ts";
import { shownSource } from "../engine-message.ts";
import { maxDepth } from "../read-document.ts";
import { Unacceptable, yamlFault } from "../read-failure.ts";

/** A file that a kustomization generates a Secret from, or patches with, and the format in which it may be encrypted. */
export interface SourceFile {
  /** In the artifact. */
  readonly path: string;
  readonly format: SopsFormat;
}

/** Why the files cannot be found, in Flux's words. */
export class SourcesFault extends Error {
  override readonly name = "SourcesFault";
}

/** The kustomization file of the built folder cannot be read. The engine has better words for it, if it cannot read it either. */
export class UnreadableRoot extends SourcesFault {}

/**
 * The files that Flux decrypts before the build (reference 3.10): of the built folder and of the local folders among its resources
 * and components, every `files` and `envs` entry of a Secret generator and every patch that is a file. A file that is named twice
 * has the format of its first name. Nothing is read but kustomization files. Pure.
 *
 * @param components those of the spec, which count like those of the folder
 * @throws SourcesFault
 */
export function* encryptedSources(
  tree: FileTree,
  folder: string,
  components: readonly string[],
): Steps<readonly SourceFile[]> {
  const sources = new Map<string, SourceFile>();
  const budget = { bytes: maxKustomizationsBytes, names: maxNames };
  const visited = new Set<string>();
  const isGenerated = !hasKustomizationFile(tree, folder);
  const root = isGenerated ? yield* generated(tree, folder) : rootOf(tree, folder, budget);
  // The next one is the last.
  const left: { readonly place: string; readonly named?: Named }[] = [
    { place: folder, named: { ...root, resources: [...root.resources, ...components] } },
  ];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (visited.has(at.place)) continue;
    visited.add(at.place);
    yield;
    if (at.named === undefined && !tree.folders.has(at.place)) continue;
    const { resources, files } = at.named ?? namedIn(tree, at.place, budget);
    for (const { path, format } of files) {
      const place = resolve(at.place, path);
      if (!sources.has(place)) sources.set(place, { path: place, format });
    }
    for (const resource of resources.toReversed()) left.push({ place: resolve(at.place, resource) });
  }
  return [...sources.values()];
}

/** A path inside the artifact, also for an absolute path or one with `..`. */
function resolve(folder: string, path: string): string {
  return confined(path.startsWith("/") ? path : `${folder}/${path}`);
}

/** What one kustomization file names. */
interface Named {
  readonly resources: readonly string[];
  readonly files: readonly SourceFile[];
}

function rootOf(tree: FileTree, folder: string, budget: ReadBudget): Named {
  try {
    return namedIn(tree, folder, budget);
  } catch (error) {
    if (error instanceof UnreadableFile) throw new UnreadableRoot(error.message);
    throw error;
  }
}

/** A folder without a kustomization file gets one that lists the folders below that have one. */
function* generated(tree: FileTree, folder: string): Steps<Named> {
  const prefix = folder === "" ? "" : `${folder}/`;
  const isLong = pace();
  const own = new Set<string>();
  for (const path of tree.folders) {
    if (isLong()) yield;
    if (path !== "" && path.startsWith(prefix) && hasKustomizationFile(tree, path)) own.add(path);
  }
  const resources: string[] = [];
  for (const path of own) {
    if (isLong()) yield;
    // A folder below one that has a kustomization file is that one's own affair.
    if (!foldersAbove(path).some((above) => own.has(above))) resources.push(path.slice(prefix.length));
  }
  return { resources: resources.toSorted(), files: [] };
}

function foldersAbove(path: string): readonly string[] {
  return Array.from(path.matchAll(/\//g), ({ index }) => path.slice(0, index));
}

class UnreadableFile extends SourcesFault {}

/** The limit for one kustomization file that is searched for encrypted ones: it is parsed in one go. */
export const maxKustomizationBytes = 512 * 1024;
/** The limit for all kustomization files. */
export const maxKustomizationsBytes = 8 * 1024 * 1024;
/** Resources and files that they name, where an alias counts as what it stands for. */
export const maxNames = 50_000;

/** What is left of both. */
interface ReadBudget {
  bytes: number;
  names: number;
}

function namedIn(tree: FileTree, folder: string, budget: ReadBudget): Named {
  const present = kustomizationFileNames.map((name) => joinPath(folder, name)).filter((path) => tree.files.has(path));
  const [path, second] = present;
  if (path === undefined) throw new SourcesFault(`no kustomization file found in '${folder}'`);
  if (second !== undefined) throw new SourcesFault(`found multiple kustomization files in '${folder}'`);
  const bytes = tree.files.get(path) ?? new Uint8Array();
  budget.bytes -= bytes.length;
  if (bytes.length > maxKustomizationBytes) {
    throw new SourcesFault(`'${path}' has more than ${maxKustomizationBytes} bytes`);
  }
  if (budget.bytes < 0) {
    throw new SourcesFault(`the kustomization files have more than ${maxKustomizationsBytes} bytes`);
  }
  const kustomization = parse(bytes, path);
  const generators = objectsIn(field(kustomization, "secretGenerator"));
  const patches = objectsIn(field(kustomization, "patches")).flatMap((patch) => textsIn([field(patch, "path")]));
  const named = {
    resources: ["resources", "components"].flatMap((name) => textsIn(field(kustomization, name))),
    files: [
      ...generators.flatMap((generator) => [
        ...textsIn(field(generator, "files")).map(keyedFile),
        ...textsIn(field(generator, "envs")).map(envFile),
      ]),
      ...patches
        .filter((patch) => patch !== "" && !isRemote(patch))
        .map((patch) => ({ path: patch, format: formatOfName(patch) })),
    ],
  };
  budget.names -= named.resources.length + named.files.length;
  if (budget.names < 0) throw new SourcesFault(`the kustomization files name more than ${maxNames} files`);
  return named;
}

/** `key=path` or a path: the format follows the key. */
function keyedFile(source: string): SourceFile {
  const equals = source.indexOf("=");
  const key = equals === -1 ? source : source.slice(0, equals);
  return { path: source.slice(equals + 1), format: formatOfName(key) };
}

function envFile(path: string): SourceFile {
  const format = formatOfName(path);
  return { path, format: format === "binary" ? "dotenv" : format };
}

/** As Go sees it: a scheme and a host. */
function isRemote(path: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i.test(path);
}

const schema = CORE_SCHEMA.withTags(mergeTag);

function parse(bytes: Uint8Array, path: string): Readonly<Record<string, unknown>> {
  const unreadable = (why: string) =>
    new UnreadableFile(`failed to unmarshal kustomization file from '${path}': ${why}`);
  const source = new TextDecoder().decode(bytes);
  try {
    const events = parseEvents(source, { maxDepth });
    refuseAliasBomb(events, { text: source, line: 1 });
    const [value = {}] = constructFromEvents(events, { source, schema, json: true });
    if (value === null) return {};
    if (!isJsonObject(value)) throw unreadable("it is not a mapping");
    return value;
  } catch (error) {
    if (error instanceof YAMLException) throw unreadable(yamlFault(error));
    if (error instanceof Unacceptable) throw unreadable(messageOf(error));
    throw error;
  }
}

/** Go's reader of JSON takes a name in any case, and the last of several. */
function field(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.entries(object).findLast(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
}

/** kustomize refuses other shapes. */
function objectsIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** The file as a message names it: what is meant as a literal may stand in its place. */
export function missingSource({ path }: SourceFile): SourcesFault {
  return new SourcesFault(`lstat ${shownSource(path)}: no such file or directory`);
}
