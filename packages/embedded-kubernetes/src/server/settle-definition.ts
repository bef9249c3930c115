import type { ApiObject } from "../core/api-object.ts";
import { equal, isJsonObject } from "../core/json.ts";
import { itemsOf } from "../core/json-fields.ts";
import { plainText } from "../core/plain-text.ts";
import { condition, definitionStatus, withTimes } from "../crd/definition-status.ts";
import type { Resource } from "../resource/resource.ts";
import { parseMetadata } from "../store/stored-object.ts";
import { type Cluster, metadataOf, parseKept, timestamp } from "./cluster.ts";
import { definitionsKey } from "./resources.ts";

const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/** Deletes every object of a custom resource; those with finalizers stay for now. */
type DeleteAll = (resource: Resource) => void;

/**
 * What follows a write at once where a real cluster's controllers follow a moment later: a definition is established,
 * or, being deleted, takes its objects with it and goes with the last of them.
 */
export function settleAfterWrite(cluster: Cluster, resource: Resource, name: string, deleteAll: DeleteAll): void {
  if (resource.key === definitionsKey) settleDefinition(cluster, resource, name, deleteAll);
  else if (resource.custom !== undefined) {
    const definitions = cluster.resources.find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    if (definitions !== undefined) endDefinition(cluster, definitions, `${resource.plural}.${resource.group}`);
  }
}

function settleDefinition(cluster: Cluster, definitions: Resource, name: string, deleteAll: DeleteAll): void {
  const definition = read(cluster, definitions, name);
  if (definition === undefined || metadataOf(definition)["deletionTimestamp"] === undefined) {
    return renewGroup(cluster, definitions, name);
  }
  const served = cluster.resources.stored().find((one) => one.key === resourceKeyOf(definition));
  if (served !== undefined) deleteAll(served);
  endDefinition(cluster, definitions, name);
}

/** Takes the finalizer from a definition that is being deleted and has no objects left. */
function endDefinition(cluster: Cluster, definitions: Resource, name: string): void {
  const stored = cluster.store.get({ resource: definitionsKey, namespace: "", name });
  // By the metadata alone: every write of a custom resource comes by, and a definition is long.
  if (stored === undefined || parseMetadata(stored)["deletionTimestamp"] === undefined) return;
  const definition = parseKept(definitions, stored);
  if (cluster.store.list({ resource: resourceKeyOf(definition), metadataOnly: true }).length > 0) return;
  const { finalizers, ...metadata } = metadataOf(definition);
  const left = Array.isArray(finalizers) ? finalizers.filter((one) => one !== cleanupFinalizer) : [];
  const key = { resource: definitionsKey, namespace: "", name };
  const next = { ...definition, metadata: left.length === 0 ? metadata : { ...metadata, finalizers: left } };
  if (left.length === 0) {
    cluster.store.remove(key, next);
    // Names that it had may be free for others now.
    renewGroup(cluster, definitions, name);
  } else if (Array.isArray(finalizers) && left.length < finalizers.length) cluster.store.write(key, next);
}

/** What a DELETE makes of a definition: marked, and held by the finalizer that stands for its objects. */
export function terminatingDefinition(definition: ApiObject, now: string): ApiObject {
  const metadata = metadataOf(definition);
  if (metadata["deletionTimestamp"] !== undefined) return definition;
  const finalizers = itemsOf(metadata, "finalizers");
  const status = isJsonObject(definition["status"]) ? definition["status"] : {};
  const pending = condition(
    "Terminating",
    "True",
    "InstanceDeletionPending",
    "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
  );
  return {
    ...definition,
    metadata: { ...metadata, deletionTimestamp: now, finalizers: [...finalizers, cleanupFinalizer] },
    status: { ...status, conditions: withTimes([pending], status["conditions"], now) },
  };
}

/** Renews the status of each definition in the group of this one: names count within a group. Others are not read, since definitions are long. */
function renewGroup(cluster: Cluster, definitions: Resource, name: string): void {
  const group = groupOf(name);
  const names = cluster.store.list({ resource: definitionsKey, metadataOnly: true }).map((one) => one.name);
  const renewed = names
    .filter((one) => groupOf(one) === group)
    .map((one) => read(cluster, definitions, one))
    .filter((one) => one !== undefined);
  for (const [index, definition] of [...renewed.entries()]) {
    const status = definitionStatus(definition, renewed.toSpliced(index, 1), timestamp(cluster.now()));
    if (equal(status, definition["status"])) continue;
    const key = { resource: definitionsKey, namespace: "", name: plainText(metadataOf(definition)["name"]) };
    const next = { ...definition, status };
    renewed[index] = next;
    cluster.store.write(key, next);
  }
}

/** Of a definition's name, which is `PLURAL.GROUP`. */
function groupOf(name: string): string {
  return name.slice(name.indexOf(".") + 1);
}

function read(cluster: Cluster, definitions: Resource, name: string): ApiObject | undefined {
  const stored = cluster.store.get({ resource: definitionsKey, namespace: "", name });
  return stored === undefined ? undefined : parseKept(definitions, stored);
}

function resourceKeyOf({ spec }: ApiObject): string {
  if (!isJsonObject(spec) || !isJsonObject(spec["names"])) return "";
  return `${plainText(spec["group"])}/${plainText(spec["names"]["plural"])}`;
}
