import { isJsonObject, type Json } from "../core/json.ts";
import { plainValue } from "./go-scalar.ts";
import { Undecided } from "./read-failure.ts";
import type { SourceObject } from "./read-objects.ts";

/** Kinds whose name kustomize never gives a prefix or suffix. */
function keepsName({ apiVersion, kind }: SourceObject): boolean {
  return (
    kind === "CustomResourceDefinition" ||
    kind === "Namespace" ||
    (kind === "APIService" && apiVersion.startsWith("apiregistration.k8s.io/"))
  );
}

/** Fields that name no other object by kustomize's rules, so a text in them may be equal to a name by chance. */
const noReference: ReadonlySet<string> = new Set([
  "labels",
  "matchLabels",
  "selector",
  "image",
  "data",
  "stringData",
  "args",
  "command",
]);

/**
 * Prefix and suffix. kustomize follows references to what it renames; where any text of the set could be such a
 * reference, it is left to it.
 */
export function transformNames(objects: readonly SourceObject[], prefix: string, suffix: string): SourceObject[] {
  if (prefix === "" && suffix === "") return [...objects];
  const names = new Set(objects.filter((object) => !keepsName(object)).map(({ metadata }) => metadata.name));
  for (const object of objects) {
    const { metadata, ...rest } = object;
    const { name: _name, ...otherMetadata } = metadata;
    if (mentions(rest, names) || mentions(otherMetadata, names)) throw new Undecided("a reference to a renamed object");
  }
  return objects.map((object) =>
    keepsName(object) ? object : rename(object, `${prefix}${object.metadata.name}${suffix}`),
  );
}

function rename(object: SourceObject, name: string): SourceObject {
  const reads = plainValue(name);
  if (reads === undefined || !("value" in reads) || reads.value !== name)
    throw new Undecided("a name that reads as no string");
  return { ...object, metadata: { ...object.metadata, name } };
}

function mentions(value: Json, names: ReadonlySet<string>): boolean {
  if (typeof value === "string") return names.has(value);
  if (Array.isArray(value)) return value.some((item: Json) => mentions(item, names));
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([key, inner]) => !noReference.has(key) && mentions(inner, names));
}
