import type { ApiObject } from "../core/api-object.ts";
import type { ControllerClient, ObjectEvent, ResourceName } from "./controller-client.ts";
import { controllerUid, isSameResource, nameOf, namespaceOf, uidOf } from "./object-facts.ts";

interface Owned extends ResourceName {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** What each owner controls and what has no controller, kept up to date by events: so a few Pods are found without a list. */
export interface OwnedObjects {
  see(event: ObjectEvent): void;
  /** The present objects of that resource that this owner controls, by name. */
  of(ownerUid: string, resource: ResourceName): readonly ApiObject[];
  /** The present objects of that resource in the namespace that have no controller, by name. */
  orphans(resource: ResourceName, namespace: string): readonly ApiObject[];
}

/** What controllers own. */
const ownedKinds: readonly ResourceName[] = [
  { group: "", resource: "pods" },
  { group: "apps", resource: "replicasets" },
];

export function ownedObjects(client: ControllerClient): OwnedObjects {
  const byOwner = new Map<string, Map<string, Owned>>();
  const ownerOf = new Map<string, string>();

  const forget = (uid: string): void => {
    const owner = ownerOf.get(uid);
    if (owner === undefined) return;
    const siblings = byOwner.get(owner);
    siblings?.delete(uid);
    if (siblings?.size === 0) byOwner.delete(owner);
    ownerOf.delete(uid);
  };
  const present = (owner: string, resource: ResourceName): readonly ApiObject[] =>
    [...(byOwner.get(owner)?.values() ?? [])]
      .filter((owned) => isSameResource(owned, resource))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .flatMap((owned) => {
        const object = client.get(resource, owned.namespace, owned.name);
        return object !== undefined && uidOf(object) === owned.uid ? [object] : [];
      });

  return {
    see({ type, object, group, resource }) {
      const uid = uidOf(object);
      forget(uid);
      const namespace = namespaceOf(object);
      const owned = { group, resource, uid, namespace, name: nameOf(object) };
      const owner =
        controllerUid(object) ??
        (ownedKinds.some((kind) => isSameResource(kind, owned)) ? nobodyIn(namespace) : undefined);
      if (type === "DELETED" || owner === undefined) return;
      const siblings = byOwner.get(owner) ?? new Map<string, Owned>();
      siblings.set(uid, owned);
      byOwner.set(owner, siblings);
      ownerOf.set(uid, owner);
    },
    of: present,
    orphans: (resource, namespace) => present(nobodyIn(namespace), resource),
  };
}

/** Stands for the owner of objects that have none; no uid holds a slash. */
function nobodyIn(namespace: string): string {
  return `nobody/${namespace}`;
}
