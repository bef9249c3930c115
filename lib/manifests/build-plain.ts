import type { JsonObject } from "../core/json.ts";
import type { BuildSpec } from "./build-spec.ts";
import { isClusterScoped } from "./cluster-scoped.ts";
import { goYamlText } from "./go-yaml-text.ts";
import { maxObjects } from "./max-objects.ts";
import { Undecided } from "./read-failure.ts";
import { readObjects, type SourceObject } from "./read-objects.ts";
import { transformImages } from "./transform-images.ts";
import { transformNames } from "./transform-names.ts";

/** One file of a folder without a kustomization file. */
export interface PlainFile {
  /** Relative to the folder that is built. */
  readonly path: string;
  readonly content: Uint8Array;
}

/** What the spec asks of a plain folder that is built in process. */
export type PlainSpec = Pick<BuildSpec, "targetNamespace" | "namePrefix" | "nameSuffix" | "images">;

export interface PlainBuild {
  readonly objects: readonly JsonObject[];
  /** The objects as kustomize prints them. */
  readonly text: string;
}

/** Kinds in which kustomize follows references into a namespace, even where nothing is renamed. */
const namespacedReferrers: ReadonlySet<string> = new Set([
  "RoleBinding",
  "ClusterRoleBinding",
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
  "APIService",
]);

/**
 * Builds a folder of plain YAML as kustomize would, byte for byte, or throws: {@link Undecided} where it is not certain of
 * that, so that kustomize itself builds it, and an `Unacceptable` where neither should.
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
  for (const source of sources) refuseTrouble(source, spec, seen);
  const images = spec.images ?? [];
  if (new Set(images.map(({ name }) => name)).size < images.length) throw new Undecided("two entries for one image");
  const placed = sources.map((source) => place(transformImages(source, images), spec.targetNamespace ?? ""));
  const objects = transformNames(placed, spec.namePrefix ?? "", spec.nameSuffix ?? "");
  const texts = objects.map((object) => {
    const text = goYamlText(object);
    if (text === undefined) throw new Undecided("a value that only go-yaml knows how to print");
    return text;
  });
  return { objects, text: texts.join("---\n") };
}

function refuseTrouble(
  { apiVersion, kind, metadata, spec: content }: SourceObject,
  spec: PlainSpec,
  seen: Set<string>,
): void {
  if (namespacedReferrers.has(kind)) throw new Undecided(`a ${kind}`);
  if (kind === "CustomResourceDefinition" && JSON.stringify(content ?? null).includes('"conversion"')) {
    throw new Undecided("a definition with a conversion");
  }
  if (kind === "Namespace" && (spec.targetNamespace ?? "") !== "") throw new Undecided("a namespace to be renamed");
  // Two of a name may be one object to kustomize, or two that a reference could mean.
  const id = `${apiVersion.split("/")[0] ?? ""} ${kind} ${metadata.name}`;
  if (seen.has(id)) throw new Undecided("two objects of one kind and name");
  seen.add(id);
}

function place(source: SourceObject, namespace: string): SourceObject {
  if (namespace === "" || isClusterScoped(source.apiVersion, source.kind)) return source;
  return { ...source, metadata: { ...source.metadata, namespace } };
}
