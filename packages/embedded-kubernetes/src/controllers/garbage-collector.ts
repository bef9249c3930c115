import type { ApiObject } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import { textOf } from "../core/json-fields.ts";
import type { Controller, Tools } from "./controller.ts";
import type { ObjectEvent, ResourceName } from "./controller-client.ts";
import {
  finalizersOf,
  isDeleting,
  nameOf,
  namespaceOf,
  ownersOf,
  uidOf,
  withMetadata,
  withoutFinalizer,
} from "./object-facts.ts";

const foreground = "foregroundDeletion";
const orphan = "orphan";

interface Node {
  readonly resource: ResourceName;
  readonly namespace: string;
  readonly name: string;
  readonly owners: readonly string[];
  readonly isWaiting: boolean;
}

/**
 * Deletes what has no owner left, and what a foreground deletion waits for; takes itself out of the dependents of what
 * is orphaned. Keeps the graph of owners by uid; an owner that is not in it does not exist.
 */
export function garbageCollector(): Controller {
  const nodes = new Map<string, Node>();
  const dependents = new Map<string, Set<string>>();
  const graph: Graph = { nodes, dependents };
  return {
    name: "garbage-collector",
    keysOf: (event) => observe(graph, event),
    reconcile: (uid, tools) => collect(graph, uid, tools),
  };
}

interface Graph {
  readonly nodes: Map<string, Node>;
  readonly dependents: Map<string, Set<string>>;
}

/** Brings the graph up to date and tells whom the change concerns. */
function observe({ nodes, dependents }: Graph, { type, object, group, resource }: ObjectEvent): readonly string[] {
  const uid = uidOf(object);
  const former = nodes.get(uid);
  for (const owner of former?.owners ?? []) dependents.get(owner)?.delete(uid);
  if (type === "DELETED") {
    nodes.delete(uid);
    const left = [...(dependents.get(uid) ?? [])];
    return [...left, ...(former?.owners ?? []).filter((owner) => nodes.get(owner)?.isWaiting === true)];
  }
  const owners = ownersOf(object).map((owner) => textOf(owner, "uid"));
  const isWaiting = isDeleting(object) && finalizersOf(object).some((one) => one === foreground || one === orphan);
  nodes.set(uid, {
    resource: { group, resource },
    namespace: namespaceOf(object),
    name: nameOf(object),
    owners,
    isWaiting,
  });
  for (const owner of owners) {
    const set = dependents.get(owner) ?? new Set();
    dependents.set(owner, set.add(uid));
  }
  const dropped = (former?.owners ?? []).filter(
    (owner) => !owners.includes(owner) && nodes.get(owner)?.isWaiting === true,
  );
  return [...(owners.length > 0 || isWaiting ? [uid] : []), ...dropped];
}

function collect(graph: Graph, uid: string, tools: Tools): void {
  const node = graph.nodes.get(uid);
  const object = node && tools.client.get(node.resource, node.namespace, node.name);
  if (node === undefined || object === undefined || uidOf(object) !== uid) return;
  if (isDeleting(object) && finalizersOf(object).includes(orphan)) releaseDependents(graph, object, node, tools);
  else if (isDeleting(object) && finalizersOf(object).includes(foreground))
    deleteDependents(graph, object, node, tools);
  else if (!isDeleting(object)) collectOrphaned(graph, object, node, tools);
}

function dependentsOf(
  { nodes, dependents }: Graph,
  uid: string,
  { client }: Tools,
): readonly { readonly node: Node; readonly object: ApiObject }[] {
  return [...(dependents.get(uid) ?? [])].flatMap((dependent) => {
    const node = nodes.get(dependent);
    const object = node && client.get(node.resource, node.namespace, node.name);
    return node === undefined || object === undefined || uidOf(object) !== dependent ? [] : [{ node, object }];
  });
}

function releaseDependents(graph: Graph, owner: ApiObject, node: Node, tools: Tools): void {
  const uid = uidOf(owner);
  for (const { node: dependent, object } of dependentsOf(graph, uid, tools)) {
    tools.client.update(dependent.resource, withoutOwners(object, [uid]));
  }
  tools.client.update(node.resource, withoutFinalizer(owner, orphan));
}

/** The owner goes when nothing that blocks it is left; what does not block follows it. */
function deleteDependents(graph: Graph, owner: ApiObject, node: Node, tools: Tools): void {
  const uid = uidOf(owner);
  const blocking = dependentsOf(graph, uid, tools).filter(({ object }) => blocks(object, uid));
  if (blocking.length === 0) {
    tools.client.update(node.resource, withoutFinalizer(owner, foreground));
    return;
  }
  for (const { node: dependent, object } of blocking) {
    if (!isDeleting(object)) collectOrphaned(graph, object, dependent, tools);
  }
}

function blocks(object: ApiObject, ownerUid: string): boolean {
  return ownersOf(object).some((owner) => owner["uid"] === ownerUid && owner["blockOwnerDeletion"] === true);
}

/** Owners that stay keep an object; without one it goes, in the foreground if it has dependents of its own to wait for. */
function collectOrphaned({ nodes, dependents }: Graph, object: ApiObject, node: Node, { client }: Tools): void {
  const owners = ownersOf(object).map((owner) => textOf(owner, "uid"));
  if (owners.length === 0) return;
  const isGoing = (owner: string): boolean => {
    const found = nodes.get(owner);
    return found?.isWaiting === true && isForeground(client.get(found.resource, found.namespace, found.name));
  };
  const solid = owners.filter((owner) => nodes.has(owner) && !isGoing(owner));
  if (solid.length > 0) {
    const gone = owners.filter((owner) => !solid.includes(owner));
    if (gone.length > 0) client.update(node.resource, withoutOwners(object, gone));
    return;
  }
  const uid = uidOf(object);
  const isWaitedFor = owners.some((owner) => nodes.has(owner)) && (dependents.get(uid)?.size ?? 0) > 0;
  const propagationPolicy = isWaitedFor ? "Foreground" : "Background";
  client.delete(node.resource, node.namespace, node.name, { uid, propagationPolicy });
}

function isForeground(object: ApiObject | undefined): boolean {
  return object !== undefined && isDeleting(object) && finalizersOf(object).includes(foreground);
}

function withoutOwners(object: ApiObject, uids: readonly string[]): ApiObject {
  const ownerReferences = ownersOf(object).filter((owner: JsonObject) => !uids.includes(textOf(owner, "uid")));
  return withMetadata(object, { ownerReferences });
}
