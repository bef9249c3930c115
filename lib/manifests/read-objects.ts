import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { oddCharacter } from "./go-yaml/scalar.ts";
import { readDocument } from "./read-document.ts";
import { tooManyObjects, Unacceptable, Undecided } from "./read-failure.ts";
import { splitDocuments } from "./split-documents.ts";

/** An object that kustomize accepts: it has a kind and a name, and its metadata has the right types. */
export interface SourceObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: JsonObject;
    readonly annotations?: JsonObject;
  };
  readonly [field: string]: Json;
}

const ownAnnotations = /^(internal\.|kustomize\.)?config\.(kubernetes|k8s)\.io\//;

/**
 * The objects of one file, in order. Throws as {@link readDocument} does, {@link Unacceptable} for more than `room` objects, and
 * {@link Undecided} for objects that kustomize refuses or treats specially.
 */
export function readObjects(content: Uint8Array, room: number): SourceObject[] {
  const text = decode(content).replaceAll("\r\n", "\n");
  if (oddCharacter.test(text)) throw new Undecided("an odd character");
  const objects: SourceObject[] = [];
  for (const document of splitDocuments(text)) {
    const value = readDocument(document);
    if (value === undefined || value === null) continue;
    if (objects.length >= room) throw new Unacceptable(tooManyObjects, document.line);
    objects.push(asSourceObject(value));
  }
  return objects;
}

/**
 * The values of a patch, document by document, without empty ones: what is certain to be the same for each reader that kustomize
 * tries. Throws as {@link readDocument} does.
 */
export function readPatchTexts(text: string): readonly Json[] {
  const plain = text.replaceAll("\r\n", "\n");
  if (oddCharacter.test(plain)) throw new Undecided("an odd character");
  // Equals Go's strings.TrimSpace, since the two differ only for odd characters. A literal block at the end loses its line end.
  const trimmed = plain.trim();
  if (trimmed.startsWith("[") && !isJson(trimmed)) throw new Undecided("a JSON patch that is not JSON");
  return splitDocuments(trimmed).flatMap((document) => {
    const value = readDocument(document, "any");
    return value === undefined ? [] : [value];
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function decode(content: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch (error) {
    throw new Undecided("bytes that are not UTF-8", { cause: error });
  }
}

/** Throws {@link Undecided} for a value that kustomize refuses as an object, or treats specially. */
export function asSourceObject(value: Json): SourceObject {
  if (!isJsonObject(value)) throw new Undecided("a document that is not a mapping");
  const { apiVersion, kind, metadata } = value;
  if (!isText(apiVersion) || !isText(kind)) throw new Undecided("an object without apiVersion or kind");
  if (!isJsonObject(metadata)) throw new Undecided("an object without metadata");
  if (kind.endsWith("List")) throw new Undecided("a list");
  if (apiVersion.startsWith("kustomize.config.k8s.io/")) throw new Undecided("a kustomization among the resources");
  const { name, namespace, labels, annotations } = metadata;
  if (!isText(name)) throw new Undecided("an object without a name");
  if (namespace !== undefined && !isText(namespace)) throw new Undecided("a namespace that is not a name");
  if (labels !== undefined && !isTexts(labels)) throw new Undecided("labels that are not strings");
  if (annotations !== undefined && (!isTexts(annotations) || !Object.keys(annotations).every(isForeign))) {
    throw new Undecided("annotations that kustomize looks at");
  }
  return {
    ...value,
    apiVersion,
    kind,
    metadata: {
      ...metadata,
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
    },
  };
}

function isText(value: Json | undefined): value is string {
  return typeof value === "string" && value !== "";
}

/** A mapping of strings that is not empty, since kustomize sometimes drops empty ones. */
function isTexts(value: Json): value is JsonObject {
  return (
    isJsonObject(value) &&
    Object.keys(value).length > 0 &&
    Object.values(value).every((item) => typeof item === "string")
  );
}

function isForeign(annotation: string): boolean {
  return !ownAnnotations.test(annotation);
}
