import { type ApiObject, messageOf } from "../core/api-object.ts";
import { ConversionError } from "../core/conversion-error.ts";
import { isJsonObject, type Json } from "../core/json.ts";
import { plainText } from "../core/plain-text.ts";
import { applyFields } from "../fields/apply.ts";
import { apiVersionOf, hasStatus, type Resource } from "../resource/resource.ts";
import { canonicalObject } from "../rules/canonical-object.ts";
import { defaultObject } from "../rules/default-object.ts";
import { checkGrants } from "./check-grants.ts";
import { type Cluster, metadataOf, parseKept, timestamp } from "./cluster.ts";
import { convertObject } from "./convert-object.ts";
import { createObject, type Written } from "./create-object.ts";
import { badRequest, conflict, internal, notFound } from "./errors.ts";
import { checkNamespace } from "./namespace-check.ts";
import { type ParsedBody, repeatedKeys } from "./parse-body.ts";
import { restoredText } from "./restore-error.ts";
import { checkNames, checkResourceVersion, immutableUid, isEmpty, storeChanged, type Target } from "./update-object.ts";
import { versionsOf } from "./versions.ts";
import type { WriteOptions } from "./write-options.ts";

/**
 * Server-side apply.
 *
 * @param warn gets the warnings about the body as soon as it has been merged; the object may be refused after that
 * @throws {StatusError} 400, 404, 409 (also the conflicts), 422 or 500
 */
export function applyObject(
  cluster: Cluster,
  target: Target,
  { value, repeated }: ParsedBody,
  options: WriteOptions,
  warn: (warnings: readonly string[]) => void,
): Written {
  const { resource, namespace, name, subresource } = target;
  const applied = appliedObject(value, target);
  const stored = cluster.store.get({ resource: resource.key, namespace, name });
  if (stored === undefined && subresource !== undefined) throw notFound(resource, name);
  const kept = stored === undefined ? undefined : parseKept(resource, stored);
  const live = kept === undefined ? undefined : convertObject(kept, resource.storage, resource);
  const metadata = metadataOf(applied);
  // One that is there has its name already.
  if (live === undefined && isEmpty(metadata["name"])) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (live === undefined) checkNamespace(cluster, resource, namespace, name);

  const merged = applyFields({
    live,
    applied,
    manager: options.manager,
    apiVersion: apiVersionOf(resource),
    ...(subresource === undefined ? {} : { subresource }),
    force: options.force,
    schema: resource.schema(),
    now: timestamp(cluster.now()),
    namespaceInBody: typeof metadata["namespace"] === "string" ? metadata["namespace"] : "",
    gvk: resource,
    isBuiltin: resource.custom === undefined,
    hasStatus: hasStatus(resource),
    versions: versionsOf(cluster, resource),
  });
  if (options.fieldValidation === "Strict" && repeated.length > 0) {
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${repeatedKeys(repeated)}`);
  }
  if (options.fieldValidation === "Warn") warn(repeated);
  const object = canonical(withinScope(merged.object, resource), resource, metadata["namespace"]);

  if (kept === undefined || live === undefined) {
    checkUidOfAbsent(target, metadata["uid"]);
    return createObject(cluster, resource, namespace, object, options, merged.managedFields);
  }
  checkResourceVersion(target, metadata["resourceVersion"], kept);
  if (!isEmpty(metadata["uid"]) && metadata["uid"] !== metadataOf(kept)["uid"]) {
    throw immutableUid(resource, name, metadata["uid"]);
  }
  const after = defaultObject(object, resource, resource.schema());
  checkGrants(cluster, resource, after, live, options.user);
  return storeChanged(cluster, target, kept, after, merged.managedFields, options.dryRun);
}

/** An empty document counts as an object without fields. */
function appliedObject(document: Json, target: Target): ApiObject {
  const { resource } = target;
  const body = document ?? {};
  if (!isJsonObject(body)) {
    const type = Array.isArray(body) ? "array" : typeof body;
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
    );
  }
  const { apiVersion = "", kind = "" } = body;
  if (apiVersion !== apiVersionOf(resource) || kind !== resource.kind) {
    const [group, version] = groupAndVersion(plainText(apiVersion ?? ""));
    throw badRequest(`invalid object type: ${group}/${version}, Kind=${plainText(kind ?? "")}`);
  }
  const { managedFields } = metadataOf(body);
  if (managedFields !== undefined && managedFields !== null) throw badRequest("metadata.managedFields must be nil");
  checkNames(body, target, "patch");
  return body;
}

function groupAndVersion(apiVersion: string): readonly [string, string] {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? ["", apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

/** A namespace on an object of a kind that has none is cleared, not refused. */
function withinScope(object: ApiObject, resource: Resource): ApiObject {
  const { namespace, ...metadata } = metadataOf(object);
  return resource.namespaced || namespace === undefined ? object : { ...object, metadata };
}

function canonical(object: ApiObject, resource: Resource, namespace: Json | undefined): ApiObject {
  try {
    return canonicalObject(object, resource, resource.schema());
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    const { group, version, kind } = resource;
    const type = `${group}/${version}, Kind=${kind}`;
    const named = `${typeof namespace === "string" ? namespace : ""}/${plainText(metadataOf(object)["name"])}; ${type}`;
    throw internal(
      `failed to convert new object (${named}) to proper version: unable to convert unstructured object to ${type}: ${restoredText(messageOf(error))}`,
    );
  }
}

function checkUidOfAbsent({ resource, name }: Target, uid: Json | undefined): void {
  if (isEmpty(uid)) return;
  throw conflict(
    resource,
    name,
    `uid mismatch: the provided object specified uid ${plainText(uid)}, and no existing object was found`,
  );
}
