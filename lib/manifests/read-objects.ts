import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { tooManyObjects } from "./max-objects.ts";
import { oddCharacter } from "./odd-character.ts";
import { readDocument } from "./read-document.ts";
import { Unacceptable, Undecided } from "./read-failure.ts";
import { splitDocuments } from "./split-documents.ts";

/** An object as kustomize takes it: it has a kind and a name, and its metadata is what it should be. */
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
 * The objects of one file, in order; at most `room` of them. Throws as {@link readDocument} does, and {@link Undecided} too for objects that
 * kustomize refuses or treats in a way of its own: it then says so itself.
 */
export function readObjects(content: Uint8Array, room: number): SourceObject[] {
  const text = decode(content).replaceAll("\r\n", "\n");
  if (oddCharacter.test(text)) throw new Undecided("an odd character");
  const objects: SourceObject[] = [];
  for (const document of splitDocuments(text)) {
    const value = readDocument(document);
    if (value === undefined || value === null) continue;
    if (objects.length >= room) throw new Unacceptable(tooManyObjects, document.line);
    objects.push(sourceObject(value));
  }
  return objects;
}

function decode(content: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch (error) {
    throw new Undecided("bytes that are no UTF-8", { cause: error });
  }
}

function sourceObject(value: Json): SourceObject {
  if (!isJsonObject(value)) throw new Undecided("a document that is no mapping");
  const { apiVersion, kind, metadata } = value;
  if (!isText(apiVersion) || !isText(kind)) throw new Undecided("an object without apiVersion or kind");
  if (!isJsonObject(metadata)) throw new Undecided("an object without metadata");
  if (kind.endsWith("List")) throw new Undecided("a list");
  if (apiVersion.startsWith("kustomize.config.k8s.io/")) throw new Undecided("a kustomization among the resources");
  const { name, namespace, labels, annotations } = metadata;
  if (!isText(name)) throw new Undecided("an object without a name");
  if (namespace !== undefined && !isText(namespace)) throw new Undecided("a namespace that is no name");
  if (labels !== undefined && !isTexts(labels)) throw new Undecided("labels that are no strings");
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

/** A mapping of strings with at least one: kustomize drops empty ones at times. */
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
