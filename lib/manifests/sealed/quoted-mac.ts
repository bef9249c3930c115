import { posix } from "node:path";
import type { FileTree } from "../../core/ports/engine.ts";
import { SopsFault } from "../../sops/sops-fault.ts";
import { atOnce } from "../../sops/steps.ts";
import { loadYaml } from "../../sops/stores/yaml-load.ts";
import { Branch, type Item, isList, type Value } from "../../sops/tree.ts";
import { kustomizationFileNames } from "../artifact-tree.ts";

/**
 * Whether a text that has a MAC somewhere does nothing but quote it: in a comment, in a text for people, or in a field that is not
 * `sops.mac`. No object that kustomize reads from it as a resource has that MAC. In doubt the answer is false. Pure.
 */
export function onlyQuotes(text: string, mac: string): boolean {
  if (text.length > maxQuoting || readersDisagree.test(text)) return false;
  try {
    return !atOnce(loadYaml(text)).some((document) => mayGive(mac, document, []));
  } catch (error) {
    if (error instanceof SopsFault) return false;
    throw error;
  }
}

/** Characters of a text that may quote a MAC, and of all kustomization files that are read to see which files may: they are read at once. */
export const maxQuoting = 1_000_000;

/**
 * What go-yaml, which kustomize reads with, takes for something else than our reader: breaks of YAML 1.1, a byte order mark inside
 * the text, directives, and tags written as a whole.
 */
const readersDisagree = /[\u0085\u2028\u2029]|[^]\ufeff|^%|!</m;

/** Whether an object in the value has the MAC as its own, or a patch gives it to one. */
function mayGive(mac: string, value: Value, path: readonly string[]): boolean {
  if (value instanceof Branch) return value.items.some((item) => mayGive(mac, item.value, [...path, nameOf(item)]));
  if (isList(value)) return value.some((item) => mayGive(mac, item, path));
  if (typeof value !== "string") return false;
  const [parent, key] = path.slice(-2);
  // Transformers of kustomize hold patches as texts.
  if (path.at(-1) === "apiVersion" && value === "builtin") return true;
  return key === "mac" && (parent === "sops" || parent === "<<") && value.includes(mac);
}

function nameOf({ key }: Item): string {
  return typeof key === "string" ? key : "";
}

/** Whether a file is one that kustomize takes as it is: what it says about objects, such as a patch, is a text inside a text. */
export function isKustomization(path: string): boolean {
  return kustomizationFileNames.includes(posix.basename(path));
}

/**
 * The files that kustomize may read as resources, patches or configuration, by what is known without running it: a folder without a
 * kustomization file gives all its YAML files, and any other file has to be named in a kustomization file.
 */
export function mayBeRead({ files }: Pick<FileTree, "files">): (path: string) => boolean {
  let named: ReadonlySet<string> | "any" | undefined;
  return (path) => {
    if (/\.(?:ya?ml|json)$/i.test(path) || isKustomization(path)) return true;
    named ??= namesIn(files);
    return named === "any" || named.has(posix.basename(path));
  };
}

/** The last parts of all texts in the kustomization files, but for generators, which take files as they are. */
function namesIn(files: FileTree["files"]): ReadonlySet<string> | "any" {
  const names = new Set<string>();
  const kustomizations = [...files].flatMap(([path, bytes]) => (isKustomization(path) ? [bytes] : []));
  if (kustomizations.reduce((sum, { length }) => sum + length, 0) > maxQuoting) return "any";
  for (const bytes of kustomizations) {
    const text = textOf(bytes);
    if (readersDisagree.test(text)) return "any";
    try {
      for (const { items } of atOnce(loadYaml(text))) {
        if (items.some(({ key }) => typeof key !== "string" || readingMore.has(key))) return "any";
        for (const item of items.filter((each) => !isGenerator(each))) addNames(names, item.value);
      }
    } catch (error) {
      if (error instanceof SopsFault) return "any";
      throw error;
    }
  }
  return names;
}

/** Their objects name files themselves, or take texts out of other objects. */
const readingMore: ReadonlySet<string> = new Set(["generators", "replacements", "transformers", "validators"]);

function isGenerator({ key }: Item): boolean {
  return key === "configMapGenerator" || key === "secretGenerator";
}

function addNames(names: Set<string>, value: Value): void {
  if (typeof value === "string") names.add(posix.basename(posix.normalize(value)));
  if (value instanceof Branch) for (const item of value.items) addNames(names, item.value);
  if (isList(value)) for (const item of value) addNames(names, item);
}

/** As a YAML reader decodes it. */
export function textOf(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
