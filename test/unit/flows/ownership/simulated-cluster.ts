import { z } from "zod";
import { isJsonObject, type JsonObject, toJsonObject } from "../../../../lib/core/json.ts";
import { type LiveObject, type Manifest, type Metadata, refOf } from "../../../../lib/core/manifest.ts";
import type { ObjectRef, VersionedRef } from "../../../../lib/core/object-ref.ts";
import {
  ApiError,
  type ApiReason,
  type DeleteOptions,
  type ListQuery,
  type Patch,
  type Resource,
} from "../../../../lib/core/ports/cluster.ts";

const Labels = z.record(z.string(), z.string());
const verbs = ["get", "list", "patch", "create", "delete"];
const served: readonly Resource[] = [
  { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true, verbs },
  { group: "", version: "v1", kind: "Event", plural: "events", namespaced: true, verbs },
  {
    group: "kustomize.toolkit.fluxcd.io",
    version: "v1",
    kind: "Kustomization",
    plural: "kustomizations",
    namespaced: true,
    verbs,
  },
  {
    group: "source.toolkit.fluxcd.io",
    version: "v1",
    kind: "OCIRepository",
    plural: "ocirepositories",
    namespaced: true,
    verbs,
  },
];

export interface Write {
  readonly manager: string;
  readonly dryRun?: boolean;
  readonly subresource?: string;
}

/**
 * An API server of few kinds, each call in one step: server-side apply of whole objects, merge patches, finalizers,
 * preconditions and selectors, with the errors that a real one has for them.
 */
export interface SimulatedCluster {
  resource(query: Pick<Resource, "group" | "kind">): Resource | undefined;
  get(ref: ObjectRef): LiveObject | undefined;
  list(query: ListQuery): readonly LiveObject[];
  apply(manifest: Manifest, write: Write): { readonly object: LiveObject; readonly created: boolean };
  patch(ref: VersionedRef, patch: Patch, write: Write): LiveObject;
  delete(ref: ObjectRef, options: Pick<DeleteOptions, "uid" | "resourceVersion">): "deleted" | "deleting" | "gone";
}

export function simulatedCluster(): SimulatedCluster {
  const objects = new Map<string, LiveObject>();
  let versions = 0;
  let uids = 0;

  const store = (object: LiveObject): LiveObject => {
    const resourceVersion = String((versions += 1));
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion } };
    const isOver = stored.metadata.deletionTimestamp !== undefined && (stored.metadata.finalizers ?? []).length === 0;
    if (isOver) objects.delete(keyOf(refOf(stored)));
    else objects.set(keyOf(refOf(stored)), stored);
    return stored;
  };
  const written = (before: LiveObject | undefined, after: LiveObject, dryRun: boolean | undefined): LiveObject =>
    dryRun === true || (before !== undefined && isSame(before, after)) ? after : store(after);

  return {
    resource: ({ group, kind }) => served.find((one) => one.group === group && one.kind === kind),
    get: (ref) => objects.get(keyOf(ref)),
    list: ({ group, kind, namespace, labelSelector = "" }) =>
      [...objects.values()].filter((object) => {
        const ref = refOf(object);
        const isThere = ref.group === group && ref.kind === kind && (namespace ?? ref.namespace) === ref.namespace;
        return isThere && selects(labelSelector, object.metadata.labels ?? {});
      }),
    apply(manifest, { manager, dryRun }) {
      const before = objects.get(keyOf(refOf(manifest)));
      const uid = before?.metadata.uid ?? `uid-${(uids += 1)}`;
      const { labels = {}, annotations = {}, finalizers } = manifest.metadata;
      const others = (before?.metadata.managedFields ?? []).filter((entry) => entry.manager !== manager);
      const metadata = {
        ...before?.metadata,
        ...identityOf(manifest),
        ...{ uid, labels, annotations },
        ...(finalizers === undefined ? {} : { finalizers }),
        generation: generationOf(before, manifest),
        managedFields: [...others, fieldsOf(manifest, manager)],
      };
      const after = {
        ...(before?.["status"] === undefined ? {} : { status: before["status"] }),
        ...manifest,
        metadata,
      };
      return { object: written(before, after, dryRun), created: before === undefined };
    },
    patch(ref, patch, { dryRun }) {
      const before = objects.get(keyOf(ref));
      if (before === undefined) throw refusal(404, "NotFound", `${ref.kind} "${ref.name}" not found`);
      if (patch.type === "json") throw new Error("the simulated cluster takes no JSON patch");
      const asked = isJsonObject(patch.body["metadata"]) ? patch.body["metadata"]["resourceVersion"] : undefined;
      if (asked !== undefined && asked !== before.metadata.resourceVersion) throw conflict(ref);
      const merged = mergePatch(toJsonObject(before), patch.body);
      return written(before, liveFrom(before, merged), dryRun);
    },
    delete(ref, { uid, resourceVersion }) {
      const before = objects.get(keyOf(ref));
      if (before === undefined) return "gone";
      if (uid !== undefined && uid !== before.metadata.uid) throw conflict(ref);
      if (resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion) throw conflict(ref);
      const { deletionTimestamp = "2026-01-01T00:00:00Z" } = before.metadata;
      const isNew = before.metadata.deletionTimestamp === undefined;
      if (isNew) store({ ...before, metadata: { ...before.metadata, deletionTimestamp } });
      return objects.has(keyOf(ref)) ? "deleting" : "deleted";
    },
  };
}

function keyOf({ group, kind, namespace, name }: ObjectRef): string {
  return `${group}/${kind}/${namespace}/${name}`;
}

function identityOf({ metadata: { name, namespace } }: Manifest): Pick<Metadata, "name" | "namespace"> {
  return namespace === undefined ? { name } : { name, namespace };
}

function generationOf(before: LiveObject | undefined, after: Manifest): number {
  if (before === undefined) return 1;
  const { generation = 1 } = before.metadata;
  return JSON.stringify(before["spec"]) === JSON.stringify(after["spec"]) ? generation : generation + 1;
}

function fieldsOf(manifest: Manifest, manager: string) {
  const named = (value: unknown): JsonObject =>
    isJsonObject(value) ? Object.fromEntries(Object.keys(value).map((key) => [`f:${key}`, {}])) : {};
  const { apiVersion, metadata, ...content } = manifest;
  const fields = Object.entries(content).map(([key, value]) => [`f:${key}`, named(value)]);
  const fieldsV1 = { ...Object.fromEntries(fields), "f:metadata": { "f:labels": named(metadata.labels ?? {}) } };
  return { manager, operation: "Apply", apiVersion, fieldsType: "FieldsV1", fieldsV1 } as const;
}

/** RFC 7386. */
function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged: Record<string, JsonObject[string]> = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    const found = merged[key];
    if (value === null) delete merged[key];
    else if (isJsonObject(value)) merged[key] = mergePatch(isJsonObject(found) ? found : {}, value);
    else merged[key] = value;
  }
  return merged;
}

function liveFrom(before: LiveObject, merged: JsonObject): LiveObject {
  const { metadata = {}, ...content } = merged;
  const patched = isJsonObject(metadata) ? metadata : {};
  const finalizers = Array.isArray(patched["finalizers"]) ? patched["finalizers"].map(String) : [];
  const labels = Labels.parse(patched["labels"] ?? {});
  const next = { ...before, ...content };
  const generation = generationOf(before, next);
  // What another way of writing has changed is not among the fields of an apply any more.
  const isRelabelled = JSON.stringify(labels) !== JSON.stringify(before.metadata.labels ?? {});
  const managedFields = (before.metadata.managedFields ?? []).map((entry) =>
    isRelabelled ? { ...entry, fieldsV1: { ...entry.fieldsV1, "f:metadata": {} } } : entry,
  );
  return { ...next, metadata: { ...before.metadata, finalizers, labels, generation, managedFields } };
}

function isSame(before: LiveObject, after: LiveObject): boolean {
  const { resourceVersion: _, ...metadata } = before.metadata;
  const { resourceVersion: __, ...next } = after.metadata;
  return JSON.stringify([{ ...before, metadata }]) === JSON.stringify([{ ...after, metadata: next }]);
}

function selects(selector: string, labels: Readonly<Record<string, string>>): boolean {
  if (selector === "") return true;
  return selector.split(",").every((term) => {
    const [key = "", value] = term.split("=");
    return labels[key] === value;
  });
}

function conflict({ kind, name }: ObjectRef): ApiError {
  return refusal(409, "Conflict", `Operation cannot be fulfilled on ${kind} "${name}": the object has been modified`);
}

function refusal(code: number, reason: ApiReason, message: string): ApiError {
  return new ApiError({ code, reason, message });
}
