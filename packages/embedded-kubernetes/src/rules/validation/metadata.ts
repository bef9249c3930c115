import type { ApiObject } from "../../core/api-object.ts";
import { forbidden, invalidValue, required, tooLong } from "../../core/field-errors.ts";
import { goStruct, quote } from "../../core/go-value.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { numberOf, objectOf, objectsOf, textOf, textsOf } from "../../core/json-fields.ts";
import { type Errors, each, named, negativeText, none } from "./checks.ts";
import { dnsLabel, labelValue, type NameRule, pathSegmentName, qualifiedName } from "./name-rules.ts";

const maxAnnotationBytes = 256 * 1024;
const standardFinalizers = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

/** What a finalizer of a kind has to be; a built-in kind's without a domain has to be a standard one. */
type FinalizerRule = (finalizer: string, path: string) => Errors;

/** `ValidateObjectMeta`: name by the kind's own rule, namespace, labels, annotations, references, finalizers. */
export function metadataErrors(
  object: ApiObject,
  namespaced: boolean,
  nameRule: NameRule,
  finalizerRule: FinalizerRule = finalizerErrors,
): Errors {
  const metadata = objectOf(object, "metadata") ?? {};
  const generation = numberOf(metadata, "generation");
  return [
    ...generateNameErrors(textOf(metadata, "generateName"), nameRule),
    ...nameErrors(textOf(metadata, "name"), nameRule),
    ...namespaceErrors(textOf(metadata, "namespace"), namespaced),
    ...(generation !== undefined && generation < 0
      ? [invalidValue("metadata.generation", generation, negativeText)]
      : []),
    ...labelErrors(objectOf(metadata, "labels"), "metadata.labels"),
    ...annotationErrors(objectOf(metadata, "annotations"), "metadata.annotations"),
    ...ownerErrors(objectsOf(metadata, "ownerReferences")),
    ...each(textsOf(metadata, "finalizers"), "metadata.finalizers", finalizerRule),
    ...finalizerConflict(textsOf(metadata, "finalizers")),
  ];
}

/** A generated name may end in a dash: its suffix follows. */
function generateNameErrors(prefix: string, nameRule: NameRule): Errors {
  return prefix === ""
    ? none
    : nameRule(prefix.replace(/-$/, "a")).map((problem) => invalidValue("metadata.generateName", prefix, problem));
}

function nameErrors(name: string, nameRule: NameRule): Errors {
  return name === ""
    ? [required("metadata.name", "name or generateName is required")]
    : named("metadata.name", name, nameRule);
}

function namespaceErrors(namespace: string, namespaced: boolean): Errors {
  if (!namespaced) return namespace === "" ? none : [forbidden("metadata.namespace", "not allowed on this type")];
  return namespace === "" ? [required("metadata.namespace")] : named("metadata.namespace", namespace, dnsLabel);
}

export function labelErrors(labels: JsonObject | undefined, path: string): Errors {
  return sorted(labels).flatMap(([key, value]) => [
    ...named(path, key, qualifiedName),
    ...named(path, typeof value === "string" ? value : "", labelValue),
  ]);
}

export function annotationErrors(annotations: JsonObject | undefined, path: string): Errors {
  // The key is checked in lower case: prefixes of annotations were once allowed to have capitals.
  const keys = sorted(annotations).flatMap(([key]) =>
    qualifiedName(key.toLowerCase()).map((problem) => invalidValue(path, key, problem)),
  );
  const bytes = sorted(annotations).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + bytesOf(value), 0);
  const size = bytes > maxAnnotationBytes ? [tooLong(path, maxAnnotationBytes)] : [];
  return [...keys, ...size];
}

function bytesOf(value: Json): number {
  return typeof value === "string" ? Buffer.byteLength(value) : 0;
}

function sorted(map: JsonObject | undefined): readonly (readonly [string, Json])[] {
  return Object.entries(map ?? {}).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function ownerErrors(owners: readonly JsonObject[]): Errors {
  const path = "metadata.ownerReferences";
  // The server names the field of the list, and not which of its items is meant.
  const fields = owners.flatMap((owner) => [
    ...apiVersionErrors(textOf(owner, "apiVersion"), path),
    ...["kind", "name", "uid"].flatMap((field) =>
      textOf(owner, field) === "" ? [invalidValue(`${path}.${field}`, textOf(owner, field), "must not be empty")] : [],
    ),
    ...(textOf(owner, "apiVersion") === "v1" && textOf(owner, "kind") === "Event"
      ? [invalidValue(path, goStruct(printedOwner(owner)), "/v1, Kind=Event is disallowed from being an owner")]
      : []),
  ]);
  const controllers = owners
    .filter((owner) => owner["controller"] === true)
    .map((owner) => `${textOf(owner, "kind")}/${textOf(owner, "name")}`);
  const [first = "", second] = controllers;
  return second === undefined
    ? fields
    : [
        ...fields,
        invalidValue(
          path,
          goStruct(owners.map(printedOwner)),
          `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${second}`,
        ),
      ];
}

/** In the order of the fields of Go's OwnerReference. */
function printedOwner(owner: JsonObject): JsonObject {
  const fields = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
  return Object.fromEntries(fields.flatMap((field) => (field in owner ? [[field, owner[field] ?? null]] : [])));
}

function apiVersionErrors(apiVersion: string, path: string): Errors {
  const version = apiVersion.split("/").at(-1) ?? "";
  return version === "" ? [invalidValue(`${path}.apiVersion`, apiVersion, "version must not be empty")] : none;
}

/** A custom resource's finalizer needs no domain, though a warning asks for one. */
export function customFinalizerErrors(finalizer: string, path: string): Errors {
  return named(path, finalizer, qualifiedName);
}

function finalizerErrors(finalizer: string, path: string): Errors {
  const problems = named(path, finalizer, qualifiedName);
  if (problems.length > 0 || finalizer.includes("/") || standardFinalizers.has(finalizer)) return problems;
  return [invalidValue(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified")];
}

function finalizerConflict(finalizers: readonly string[]): Errors {
  const isBoth = finalizers.includes("orphan") && finalizers.includes("foregroundDeletion");
  return isBoth
    ? [invalidValue("metadata.finalizers", finalizers, "finalizers orphan and foregroundDeletion cannot be both set")]
    : none;
}

const immutableFields = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;

/** `ValidateObjectMetaUpdate`: identity and times stay, and nothing new holds an object that is being deleted. */
export function metadataUpdateErrors(object: ApiObject, old: ApiObject): Errors {
  const metadata = objectOf(object, "metadata") ?? {};
  const before = objectOf(old, "metadata") ?? {};
  const immutable = immutableFields
    .filter((field) => !isSame(metadata[field], before[field]))
    .map((field) => invalidValue(`metadata.${field}`, metadata[field] ?? null, "field is immutable"));
  return [
    ...newFinalizerErrors(metadata, before),
    ...immutable,
    ...labelErrors(objectOf(metadata, "labels"), "metadata.labels"),
    ...annotationErrors(objectOf(metadata, "annotations"), "metadata.annotations"),
    ...ownerErrors(objectsOf(metadata, "ownerReferences")),
  ];
}

function newFinalizerErrors(metadata: JsonObject, before: JsonObject): Errors {
  if (textOf(before, "deletionTimestamp") === "") return none;
  const former = textsOf(before, "finalizers");
  const added = textsOf(metadata, "finalizers").filter((finalizer) => !former.includes(finalizer));
  if (added.length === 0) return none;
  const found = `[]string{${added.toSorted().map(quote).join(", ")}}`;
  const text = "no new finalizers can be added if the object is being deleted, found new finalizers";
  return [forbidden("metadata.finalizers", `${text} ${found}`)];
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return (one ?? null) === (other ?? null);
}

/** What every update checks before the kind does: names as path segments, then the update rules. */
export function commonUpdateErrors(object: ApiObject, old: ApiObject, namespaced: boolean): Errors {
  return [...metadataErrors(object, namespaced, pathSegmentName), ...metadataUpdateErrors(object, old)];
}
