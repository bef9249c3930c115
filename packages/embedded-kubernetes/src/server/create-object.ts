import { randomInt, randomUUID } from "node:crypto";
import type { ApiObject, ManagedFields } from "../core/api-object.ts";
import { required } from "../core/field-errors.ts";
import { plainText } from "../core/plain-text.ts";
import { managedFieldsForUpdate, withManagedFields } from "../fields/object-managed-fields.ts";
import { trackUpdate } from "../fields/track-update.ts";
import { apiVersionOf, hasStatus, type Resource } from "../resource/resource.ts";
import { admit } from "../rules/admit.ts";
import { defaultObject } from "../rules/default-object.ts";
import { invalid } from "../rules/invalid.ts";
import { checkGrants } from "./check-grants.ts";
import { type Cluster, metadataOf, parseKept, timestamp } from "./cluster.ts";
import { convertObject } from "./convert-object.ts";
import { alreadyExists, badRequest } from "./errors.ts";
import { checkNamespace } from "./namespace-check.ts";
import { prepareNew, prunedForStorage } from "./prepare-object.ts";
import { settle } from "./settle.ts";
import { versionsOf } from "./versions.ts";
import type { WriteOptions } from "./write-options.ts";

/** What a write answers: the object in the version of the request. */
export interface Written {
  readonly object: ApiObject;
  readonly created: boolean;
  readonly warnings: readonly string[];
}

/** Letters and digits that generated names are made of: none that spells a word or looks like another. */
const nameLetters = "bcdfghjklmnpqrstvwxz2456789";
const maxGeneratedBase = 58;

/**
 * Creates an object, by POST or by an apply of an absent one, which brings its managers.
 *
 * @throws {StatusError} 400, 403, 404, 409 or 422
 */
export function createObject(
  cluster: Cluster,
  resource: Resource,
  namespace: string,
  body: ApiObject,
  options: WriteOptions,
  managedFields?: ManagedFields,
): Written {
  const named = withName(body, resource, namespace);
  const name = plainText(metadataOf(named)["name"] ?? "");
  checkNamespace(cluster, resource, namespace, name);
  if (name === "") {
    throw invalid(resource, "", [required("metadata.name", "name or generateName is required")]);
  }

  const now = timestamp(cluster.now());
  const defaulted = defaultObject(named, resource, resource.schema());
  checkGrants(cluster, resource, defaulted, undefined, options.user);
  const tracked = managedFields ?? trackNew(cluster, defaulted, resource, options, now);
  const prepared = prepareNew(
    cluster,
    resource,
    withNewIdentity(defaulted, now, managedFields !== undefined),
    (object) =>
      admit(object, resource, askedName(body), (group, plural, inNamespace, other) => {
        const found = cluster.resources.find(group, group === "" ? "v1" : "v1", plural);
        const stored = found && cluster.store.get({ resource: found.key, namespace: inNamespace, name: other });
        return found && stored && parseKept(found, stored);
      }),
  );
  const kept = prunedForStorage(cluster, resource, withManagedFields(prepared.object, tracked));

  const key = { resource: resource.key, namespace, name };
  if (cluster.store.get(key) !== undefined) throw alreadyExists(resource, name);
  const stored = options.dryRun ? kept : parseKept(resource, cluster.store.write(key, kept));
  if (!options.dryRun) settle(cluster, resource, name);
  return { object: convertObject(stored, resource.storage, resource), created: true, warnings: prepared.warnings };
}

function trackNew(
  cluster: Cluster,
  object: ApiObject,
  resource: Resource,
  options: WriteOptions,
  now: string,
): ManagedFields {
  const { status: _status, ...withoutStatus } = object;
  return trackUpdate({
    before: undefined,
    after: hasStatus(resource) ? withoutStatus : object,
    managedFields: managedFieldsForUpdate(undefined, object),
    manager: options.manager,
    apiVersion: apiVersionOf(resource),
    schema: resource.schema(),
    now,
    isBuiltin: resource.custom === undefined,
    versions: versionsOf(cluster, resource),
  });
}

function withName(object: ApiObject, resource: Resource, namespace: string): ApiObject {
  const { namespace: ofBody, name, generateName, ...metadata } = metadataOf(object);
  if (typeof ofBody === "string" && ofBody !== "" && ofBody !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  const base = typeof generateName === "string" ? generateName : "";
  const own = typeof name === "string" && name !== "" ? name : generatedName(base);
  return {
    ...object,
    metadata: {
      ...(own === "" ? {} : { name: own }),
      ...(base === "" ? {} : { generateName: base }),
      ...(resource.namespaced ? { namespace } : {}),
      ...metadata,
    },
  };
}

/** What errors before the object is stored call it. */
function askedName(body: ApiObject): string {
  const { name, generateName } = metadataOf(body);
  return plainText(name ?? "") || plainText(generateName ?? "");
}

function generatedName(base: string): string {
  if (base === "") return "";
  const suffix = Array.from({ length: 5 }, () => nameLetters[randomInt(nameLetters.length)]).join("");
  return `${base.slice(0, maxGeneratedBase)}${suffix}`;
}

/** What only the server sets, whatever the body says; but an apply that creates may say that the object is being deleted. */
function withNewIdentity(object: ApiObject, now: string, isApply: boolean): ApiObject {
  const {
    resourceVersion: _resourceVersion,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    selfLink: _selfLink,
    managedFields: _managedFields,
    ...metadata
  } = metadataOf(object);
  const deletion = {
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
  };
  return {
    ...object,
    metadata: { ...metadata, ...(isApply ? deletion : {}), uid: randomUUID(), creationTimestamp: now },
  };
}
