import { type ApiObject, type ManagedFields, StatusError } from "../core/api-object.ts";
import { invalidValue } from "../core/field-errors.ts";
import { formatJson, type Json } from "../core/json.ts";
import { plainText } from "../core/plain-text.ts";
import { finishApply } from "../fields/finish-apply.ts";
import { managedFieldsForUpdate, withoutManagedFields } from "../fields/object-managed-fields.ts";
import { trackUpdate } from "../fields/track-update.ts";
import { apiVersionOf, hasStatus, type Resource } from "../resource/resource.ts";
import { defaultObject } from "../rules/default-object.ts";
import { invalid } from "../rules/invalid.ts";
import { statusMetadata } from "../rules/storage-strategy.ts";
import { createsOnUpdate, demandsResourceVersion } from "../rules/verb-rules.ts";
import { checkGrants } from "./check-grants.ts";
import { type Cluster, metadataOf, parseKept, timestamp } from "./cluster.ts";
import { convertObject } from "./convert-object.ts";
import { createObject, type Written } from "./create-object.ts";
import { badRequest, conflict, modified, notFound } from "./errors.ts";
import { prepareChanged, prunedForStorage } from "./prepare-object.ts";
import { settle } from "./settle.ts";
import { versionsOf } from "./versions.ts";
import type { WriteOptions } from "./write-options.ts";

export interface Target {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string | undefined;
}

/**
 * Replaces an object by PUT.
 *
 * @throws {StatusError} 400, 404, 409 or 422
 */
export function replaceObject(cluster: Cluster, target: Target, body: ApiObject, options: WriteOptions): Written {
  const { resource, namespace, name } = target;
  checkNames(body, target, "replace");
  const stored = cluster.store.get({ resource: resource.key, namespace, name });
  if (stored === undefined) {
    if (!createsOnUpdate(resource.storage)) throw notFound(resource, name);
    return createObject(cluster, resource, namespace, body, options);
  }
  const kept = parseKept(resource, stored);
  const metadata = metadataOf(body);
  if (demandsResourceVersion(resource, resource.custom === undefined) && isEmpty(metadata["resourceVersion"])) {
    throw invalid(resource, name, [invalidValue("metadata.resourceVersion", 0, "must be specified for an update")]);
  }
  checkUid(target, metadata["uid"], metadataOf(kept)["uid"]);
  return changeObject(cluster, target, kept, body, options);
}

/**
 * Stores what an update, of whatever form, made of an object. Nothing changed, nothing written. An object that waits
 * for its deletion goes with its last finalizer.
 *
 * @throws {StatusError} 409 or 422
 */
export function changeObject(
  cluster: Cluster,
  target: Target,
  kept: ApiObject,
  changed: ApiObject,
  options: WriteOptions,
): Written {
  const { resource, subresource } = target;
  const before = convertObject(kept, resource.storage, resource);
  checkResourceVersion(target, metadataOf(changed)["resourceVersion"], kept);
  const after = defaultObject(withNamespace(changed, target), resource, resource.schema());
  checkGrants(cluster, resource, after, before, options.user);
  const managedFields = trackUpdate({
    before: withoutManagedFields(before),
    after: withoutManagedFields(writable(after, before, target)),
    managedFields: managedFieldsForUpdate(before, changed, subresource),
    manager: options.manager,
    apiVersion: apiVersionOf(resource),
    ...(subresource === undefined ? {} : { subresource }),
    schema: resource.schema(),
    now: timestamp(cluster.now()),
    isBuiltin: resource.custom === undefined,
    versions: versionsOf(cluster, resource),
  });
  return storeChanged(cluster, target, kept, after, managedFields, options.dryRun);
}

/** The tail of every change: rules, then the store. `after` is in the version of the request, with its defaults. */
export function storeChanged(
  cluster: Cluster,
  target: Target,
  kept: ApiObject,
  after: ApiObject,
  managedFields: ManagedFields,
  dryRun: boolean,
): Written {
  const { resource, namespace, name, subresource } = target;
  const { object, warnings } = prepareChanged(
    cluster,
    resource,
    withoutManagedFields(after),
    withoutManagedFields(kept),
    subresource,
  );
  const next = withResourceVersion(prunedForStorage(cluster, resource, object), metadataOf(kept)["resourceVersion"]);
  const { object: finished, isUnchanged } = finishApply(kept, next, managedFields);
  const answer = (result: ApiObject): Written => ({
    object: convertObject(result, resource.storage, resource),
    created: false,
    warnings,
  });
  if (isUnchanged && !isOver(finished)) return answer(kept);
  if (dryRun) return answer(finished);
  const key = { resource: resource.key, namespace, name };
  if (isOver(finished)) {
    cluster.store.remove(key, finished);
    settle(cluster, resource, name);
    return answer(finished);
  }
  const written = answer(parseKept(resource, cluster.store.write(key, finished)));
  if (subresource === undefined) settle(cluster, resource, name);
  return written;
}

/** Whether an object that waits for its deletion has nothing left to wait for. */
function isOver(object: ApiObject): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = metadataOf(object);
  if (deletionTimestamp === undefined) return false;
  const waits = Array.isArray(finalizers) && finalizers.length > 0;
  const isNamespace = object["kind"] === "Namespace" && object["apiVersion"] === "v1";
  const hasSpecFinalizers = isNamespace && formatJson(object["spec"] ?? {}).includes('"finalizers":["');
  return !waits && !hasSpecFinalizers && (deletionGracePeriodSeconds === 0 || deletionGracePeriodSeconds === undefined);
}

/**
 * The part of a change that its (sub)resource may make, so that the writer does not come to own the rest.
 */
function writable(after: ApiObject, before: ApiObject, { resource, subresource }: Target): ApiObject {
  if (subresource === "status") {
    const { status } = after;
    const { status: _status, ...rest } = before;
    const metadata = resource.custom === undefined ? statusMetadata(after, before, resource) : after["metadata"];
    return { ...rest, ...(metadata === undefined ? {} : { metadata }), ...(status === undefined ? {} : { status }) };
  }
  if (!hasStatus(resource)) return after;
  const { status: _status, ...rest } = after;
  return before["status"] === undefined ? rest : { ...rest, status: before["status"] };
}

export function checkNames(body: ApiObject, { resource, namespace, name }: Target, verb: "replace" | "patch"): void {
  const metadata = metadataOf(body);
  if (isEmpty(metadata["name"])) {
    if (verb === "patch") return;
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata["name"] !== name) {
    throw badRequest(
      `the name of the object (${plainText(metadata["name"])}) does not match the name on the URL (${name})`,
    );
  }
  if (resource.namespaced && !isEmpty(metadata["namespace"]) && metadata["namespace"] !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
}

/** A PUT with another uid fails like a precondition in the store. */
function checkUid({ resource, namespace, name }: Target, wanted: Json | undefined, actual: Json | undefined): void {
  if (isEmpty(wanted) || wanted === actual) return;
  const place = [resource.group, resource.plural, namespace, name].filter((part) => part !== "").join("/");
  throw conflict(
    resource,
    name,
    `StorageError: invalid object, Code: 4, Key: /registry/${place}, ResourceVersion: 0, AdditionalErrorMsg: ` +
      `Precondition failed: UID in precondition: ${plainText(wanted)}, UID in object meta: ${plainText(actual)}`,
  );
}

export function checkResourceVersion({ resource, name }: Target, wanted: Json | undefined, kept: ApiObject): void {
  if (isEmpty(wanted) || wanted === metadataOf(kept)["resourceVersion"]) return;
  const text = plainText(wanted);
  if (!/^\d+$/.test(text)) {
    throw new StatusError(500, undefined, `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  throw conflict(resource, name, modified);
}

function withNamespace(object: ApiObject, { resource, namespace }: Target): ApiObject {
  const metadata = metadataOf(object);
  return resource.namespaced && isEmpty(metadata["namespace"])
    ? { ...object, metadata: { ...metadata, namespace } }
    : object;
}

function withResourceVersion(object: ApiObject, resourceVersion: unknown): ApiObject {
  return typeof resourceVersion === "string"
    ? { ...object, metadata: { ...metadataOf(object), resourceVersion } }
    : object;
}

export function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

/** The 422 of a patch that names another uid: said twice, because an update checks the metadata twice. */
export function immutableUid(resource: Resource, name: string, uid: Json | undefined): StatusError {
  const error = invalidValue("metadata.uid", uid ?? "", "field is immutable");
  return invalid(resource, name, [error, error]);
}
