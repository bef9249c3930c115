import { formatJson, type JsonObject } from "../core/json.ts";
import { apiVersionOf, type Resource } from "../resource/resource.ts";
import { type StoredObject, textOfStored } from "../store/stored-object.ts";
import { parseAsked } from "./cluster.ts";

const metaVersion = '"apiVersion":"meta.k8s.io/v1"';

/** An object as JSON text in the version asked for; parsed only where its version has to change. */
export function objectText(stored: StoredObject, resource: Resource, identity = true): string {
  const { storage } = resource;
  if (storage.group === resource.group && storage.version === resource.version) {
    return textOfStored(stored, apiVersionOf(resource), resource.kind, identity);
  }
  const { kind, apiVersion, ...rest } = parseAsked(resource, stored);
  return formatJson(identity ? { kind, apiVersion, ...rest } : rest);
}

export function partialText(stored: StoredObject): string {
  return `{"kind":"PartialObjectMetadata",${metaVersion},"metadata":${stored.metadata}}`;
}

/** Items of built-in kinds go without kind and apiVersion, custom resources have them. */
export function listText(items: readonly StoredObject[], resource: Resource, metadata: JsonObject): string {
  const isCustom = resource.custom !== undefined;
  const texts = items.map((stored) => objectText(stored, resource, isCustom));
  // A list of custom resources is unstructured in the real server, which writes an empty continue too.
  const meta = isCustom ? { continue: "", ...metadata } : metadata;
  const head = `"kind":${JSON.stringify(resource.listKind)},"apiVersion":${JSON.stringify(apiVersionOf(resource))}`;
  return `{${head},"metadata":${JSON.stringify(meta)},"items":[${texts.join(",")}]}`;
}

/** An empty one has `items: null`, as the real server's. */
export function partialListText(items: readonly StoredObject[], metadata: JsonObject): string {
  const list = items.length === 0 ? "null" : `[${items.map(partialText).join(",")}]`;
  return `{"kind":"PartialObjectMetadataList",${metaVersion},"metadata":${JSON.stringify(metadata)},"items":${list}}`;
}
