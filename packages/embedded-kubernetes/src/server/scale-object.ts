import type { ApiObject, FieldError, ManagedFields, ManagedFieldsEntry } from "../core/api-object.ts";
import { invalidValue } from "../core/field-errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { plainText } from "../core/plain-text.ts";
import { selectorText } from "../core/selector-text.ts";
import { applyFields } from "../fields/apply.ts";
import {
  managedFieldsForUpdate,
  managedFieldsOf,
  withManagedFields,
  withoutManagedFields,
} from "../fields/object-managed-fields.ts";
import { trackUpdate } from "../fields/track-update.ts";
import type { ScalePaths } from "../resource/custom-version.ts";
import { apiVersionOf, type Resource } from "../resource/resource.ts";
import { invalid } from "../rules/invalid.ts";
import { type Cluster, metadataOf, parseKept, timestamp } from "./cluster.ts";
import { convertObject } from "./convert-object.ts";
import type { Written } from "./create-object.ts";
import { badRequest, conflict, modified, notFound } from "./errors.ts";
import { isEmpty, storeChanged, type Target } from "./update-object.ts";
import { versionsOf } from "./versions.ts";
import type { WriteOptions } from "./write-options.ts";

const scaleVersion = "autoscaling/v1";
const builtinPaths: ScalePaths = {
  specReplicas: "spec.replicas",
  statusReplicas: "status.replicas",
  labelSelector: "spec.selector",
};

/** The Scale of an object. @throws {StatusError} 404 */
export function readScale(cluster: Cluster, { resource, namespace, name }: Target): ApiObject {
  const stored = cluster.store.get({ resource: resource.key, namespace, name });
  if (stored === undefined) throw notFound(resource, name);
  return scaleOf(convertObject(parseKept(resource, stored), resource.storage, resource), resource);
}

/** What a Scale looks like for an object. */
function scaleOf(object: ApiObject, resource: Resource): ApiObject {
  const paths = pathsOf(resource);
  const {
    name = null,
    namespace = null,
    uid = null,
    resourceVersion = null,
    creationTimestamp = null,
  } = metadataOf(object);
  const replicas = at(object, paths.specReplicas);
  const selected = paths.labelSelector === undefined ? undefined : at(object, paths.labelSelector);
  const selector = isJsonObject(selected) ? selectorText(selected) : plainText(selected);
  return {
    kind: "Scale",
    apiVersion: scaleVersion,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: typeof replicas === "number" && replicas !== 0 ? { replicas } : {},
    status: { replicas: at(object, paths.statusReplicas) ?? 0, ...(selector === "" ? {} : { selector }) },
  };
}

/**
 * Writes a Scale by PUT or a patch that is not an apply: only `spec.replicas` of the object changes, owned as `scale`.
 *
 * @throws {StatusError} 404, 409 or 422
 */
export function writeScale(cluster: Cluster, target: Target, scale: ApiObject, options: WriteOptions): Written {
  const { resource } = target;
  const { kept, live, changed } = scaled(cluster, target, scale);
  const managedFields = trackUpdate({
    before: withoutManagedFields(live),
    after: withoutManagedFields(changed),
    managedFields: managedFieldsForUpdate(live, live, "scale"),
    manager: options.manager,
    apiVersion: apiVersionOf(resource),
    subresource: "scale",
    schema: resource.schema(),
    now: timestamp(cluster.now()),
    isBuiltin: resource.custom === undefined,
    versions: versionsOf(cluster, resource),
  });
  return asScale(storeChanged(cluster, target, kept, changed, timeless(managedFields), options.dryRun), resource);
}

/**
 * Applies a Scale: an apply of `spec.replicas` alone to the object, owned as `scale`.
 *
 * @throws {StatusError} 400, 404, 409 or 422
 */
export function applyScale(cluster: Cluster, target: Target, scale: Json, options: WriteOptions): Written {
  const { resource, name } = target;
  if (!isJsonObject(scale) || scale["kind"] !== "Scale" || scale["apiVersion"] !== scaleVersion) {
    const { kind = "", apiVersion = "" } = isJsonObject(scale) ? scale : {};
    throw badRequest(`invalid object type: ${plainText(apiVersion)}, Kind=${plainText(kind)}`);
  }
  const { kept, live } = scaled(cluster, target, scale);
  const { specReplicas } = pathsOf(resource);
  const replicas = at(scale, "spec.replicas");
  const identity = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name } };
  const applied = replicas === undefined ? identity : withValueAt(identity, specReplicas, replicas);
  const own = versionsOf(cluster, resource);
  const merged = applyFields({
    live: withManagedFields(live, withFirstOwner(managedFieldsOf(live), specReplicas)),
    applied: isJsonObject(applied) ? applied : identity,
    manager: options.manager,
    apiVersion: apiVersionOf(resource),
    subresource: "scale",
    force: options.force,
    schema: resource.schema(),
    now: timestamp(cluster.now()),
    namespaceInBody: "",
    gvk: resource,
    isBuiltin: resource.custom === undefined,
    conflictVersion: scaleVersion,
    versions: {
      schemaOf: (apiVersion) => (apiVersion === scaleVersion ? resource.schema() : own.schemaOf(apiVersion)),
      convert: (object, apiVersion) => (apiVersion === scaleVersion ? object : own.convert(object, apiVersion)),
    },
  });
  const managedFields = timeless(merged.managedFields.filter(({ apiVersion }) => apiVersion !== scaleVersion));
  return asScale(storeChanged(cluster, target, kept, merged.object, managedFields, options.dryRun), resource);
}

interface Scaled {
  readonly kept: ApiObject;
  readonly live: ApiObject;
  readonly changed: ApiObject;
}

function scaled(cluster: Cluster, { resource, namespace, name }: Target, scale: ApiObject): Scaled {
  const stored = cluster.store.get({ resource: resource.key, namespace, name });
  if (stored === undefined) throw notFound(resource, name);
  const kept = parseKept(resource, stored);
  const live = convertObject(kept, resource.storage, resource);
  const { resourceVersion } = metadataOf(scale);
  if (!isEmpty(resourceVersion) && resourceVersion !== metadataOf(kept)["resourceVersion"]) {
    throw conflict(resource, name, modified);
  }
  const replicas = at(scale, "spec.replicas") ?? 0;
  const error = replicasError(replicas, resource);
  if (error !== undefined) {
    const gvk = resource.custom === undefined ? { group: "autoscaling", kind: "Scale" } : resource;
    throw invalid(gvk, name, [error]);
  }
  const changed = withValueAt(live, pathsOf(resource).specReplicas, replicas);
  return { kept, live, changed: isJsonObject(changed) ? changed : live };
}

function replicasError(replicas: Json, { custom }: Resource): FieldError | undefined {
  if (typeof replicas === "number" && replicas >= 0) return undefined;
  return custom === undefined
    ? invalidValue("spec.replicas", replicas, "must be greater than or equal to 0")
    : invalidValue(`.${custom.scale?.specReplicas ?? ""}`, replicas, "should be a non-negative integer");
}

function asScale(written: Written, resource: Resource): Written {
  return { ...written, object: scaleOf(written.object, resource) };
}

/** Entries of `scale` carry no time in the real server: they pass through a translation that drops it. */
function timeless(managedFields: ManagedFields): ManagedFields {
  return managedFields.map((entry) => {
    if (entry.subresource !== "scale") return entry;
    const { time: _time, ...rest } = entry;
    return rest;
  });
}

/** Replicas without an owner belong to `before-first-apply` as seen through `scale`. */
function withFirstOwner(managedFields: ManagedFields, path: string): ManagedFields {
  const isOwned = managedFields.some(
    ({ fieldsV1 }) => fieldsV1 !== undefined && at(fieldsV1, fieldPath(path)) !== undefined,
  );
  if (isOwned) return managedFields;
  const fieldsV1 = withValueAt({}, fieldPath(path), {});
  const first: ManagedFieldsEntry = {
    manager: "before-first-apply",
    operation: "Update",
    apiVersion: scaleVersion,
    fieldsType: "FieldsV1",
    fieldsV1: isJsonObject(fieldsV1) ? fieldsV1 : {},
    subresource: "scale",
  };
  return [...managedFields, first];
}

function fieldPath(path: string): string {
  return path
    .split(".")
    .map((step) => `f:${step}`)
    .join(".");
}

function pathsOf({ custom }: Resource): ScalePaths {
  return custom?.scale ?? builtinPaths;
}

function at(object: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = object;
  for (const step of path.split(".")) value = isJsonObject(value) ? value[step] : undefined;
  return value;
}

function withValueAt(object: Json | undefined, path: string, value: Json): Json {
  const [step = "", ...rest] = path.split(".");
  const holder = isJsonObject(object) ? object : {};
  return { ...holder, [step]: rest.length === 0 ? value : withValueAt(holder[step], rest.join("."), value) };
}
