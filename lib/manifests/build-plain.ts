import { formatJson, isJsonList, isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { BuildSpec } from "./build-spec.ts";
import { goYamlText } from "./go-yaml/emit.ts";
import { isReference } from "./name-references.ts";
import { maxObjects, Unacceptable, Undecided } from "./read-failure.ts";
import { readObjects, type SourceObject } from "./read-objects.ts";
import { transformImages } from "./transform-images.ts";
import { transformNames, transformNamespace } from "./transform-names.ts";
import { transformPatches } from "./transform-patches.ts";

/** One file of a folder without a kustomization file. */
export interface PlainFile {
  /** Relative to the folder that is built. */
  readonly path: string;
  readonly content: Uint8Array;
}

/** The fields of a spec that the build in process honours. */
export type PlainSpec = Pick<BuildSpec, "targetNamespace" | "namePrefix" | "nameSuffix" | "images" | "patches">;

export interface PlainBuild {
  readonly objects: readonly JsonObject[];
  /** The objects as kustomize prints them. */
  readonly text: string;
}

/** Kinds with references that kustomize completes by a namespace, with their group. */
const namespacedReferrers: ReadonlyMap<string, string> = new Map([
  ["RoleBinding", "rbac.authorization.k8s.io"],
  ["ClusterRoleBinding", "rbac.authorization.k8s.io"],
  ["ValidatingWebhookConfiguration", "admissionregistration.k8s.io"],
  ["MutatingWebhookConfiguration", "admissionregistration.k8s.io"],
  ["APIService", "apiregistration.k8s.io"],
]);

/**
 * Builds a folder of plain YAML as kustomize would, byte for byte. Throws {@link Undecided} if that is not certain, so that
 * kustomize builds the folder, and {@link Unacceptable} if no builder should.
 */
export function buildPlain(
  files: readonly PlainFile[],
  spec: PlainSpec,
  onFile: (path: string) => void = () => undefined,
): PlainBuild {
  const sources: SourceObject[] = [];
  for (const { path, content } of files) {
    onFile(path);
    for (const source of readObjects(content, maxObjects - sources.length)) sources.push(source);
  }
  onFile("");
  const seen = new Set<string>();
  const { targetNamespace = "", namePrefix: prefix = "", nameSuffix: suffix = "", patches = [] } = spec;
  const isUntouched = targetNamespace + prefix + suffix === "" && patches.length === 0;
  for (const source of sources) refuseTrouble(source, spec, isUntouched, seen);
  const images = spec.images ?? [];
  if (new Set(images.map(({ name }) => name)).size < images.length) throw new Undecided("two entries for one image");
  const patched = transformPatches(sources, patches);
  const placed = patched.map((source) => transformNamespace(transformImages(source, images), targetNamespace));
  const objects = transformNames(placed, { prefix, suffix, isUntouched });
  const texts = objects.map((object) => {
    const text = goYamlText(object);
    if (text === undefined) throw new Undecided("a value that only go-yaml knows how to print");
    return text;
  });
  return { objects, text: texts.join("---\n") };
}

function refuseTrouble(
  { apiVersion, kind, metadata, spec: content, subjects = [] }: SourceObject,
  spec: PlainSpec,
  isUntouched: boolean,
  seen: Set<string>,
): void {
  const group = namespacedReferrers.get(kind);
  if (group !== undefined && !(isUntouched && apiVersion.startsWith(`${group}/`))) throw new Undecided(`a ${kind}`);
  if (group !== undefined && !hasUsualSubjects(subjects)) throw new Undecided("a binding with odd subjects");
  if (kind === "CustomResourceDefinition" && formatJson(content ?? null).includes('"conversion"')) {
    throw new Undecided("a definition with a conversion");
  }
  if (kind === "Namespace" && (spec.targetNamespace ?? "") !== "") throw new Undecided("a namespace to be renamed");
  // kustomize keeps previous names in a list with commas.
  if ([kind, metadata.name, metadata.namespace ?? ""].some((text) => text.includes(",")))
    throw new Undecided("a comma in a name");
  // kustomize may take two objects of one name for one, or cannot tell which of them a reference means.
  const id = `${apiVersion.split("/")[0] ?? ""} ${kind} ${metadata.name}`;
  if (seen.has(id)) throw new Undecided("two objects of one kind and name");
  seen.add(id);
}

function hasUsualSubjects(subjects: Json): boolean {
  return isJsonList(subjects) && subjects.every((subject) => isJsonObject(subject) && isReference(subject));
}

/** The outcome of a build in process: plain data, so that it can come from another thread. */
export type PlainOutcome =
  | { readonly kind: "built"; readonly build: PlainBuild }
  /** Only kustomize can build this. `path` is the file to blame. */
  | { readonly kind: "undecided"; readonly path: string; readonly why: string }
  /** No builder should build this. `path` is empty if no single file is to blame. */
  | { readonly kind: "unacceptable"; readonly path: string; readonly line: number; readonly why: string };

export function attemptPlain(files: readonly PlainFile[], spec: PlainSpec): PlainOutcome {
  let path = "";
  try {
    return { kind: "built", build: buildPlain(files, spec, (next) => (path = next)) };
  } catch (error) {
    if (error instanceof Undecided) return { kind: "undecided", path, why: error.message };
    if (error instanceof Unacceptable) return { kind: "unacceptable", path, line: error.line, why: error.message };
    throw error;
  }
}
