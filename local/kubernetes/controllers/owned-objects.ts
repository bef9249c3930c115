import type { ApiObject } from "../api-object.ts";
import { textOf } from "../rules/json-fields.ts";
import type { ControllerClient, ObjectEvent, ResourceName } from "./controller-client.ts";
import { isSameResource, nameOf, namespaceOf, ownersOf, uidOf } from "./object-facts.ts";

interface Owned extends ResourceName {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Who is controlled by whom, kept up to date by events: so that nobody reads a namespace to find a few Pods. */
export interface OwnedObjects {
  see(event: ObjectEvent): void;
  /** The present objects of that resource that this owner controls, by name. */
  of(ownerUid: string, resource: ResourceName): readonly ApiObject[];
}

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

  return {
    see({ type, object, group, resource }) {
      const uid = uidOf(object);
      forget(uid);
      const controller = ownersOf(object).find((owner) => owner["controller"] === true);
      if (type === "DELETED" || controller === undefined) return;
      const owner = textOf(controller, "uid");
      const siblings = byOwner.get(owner) ?? new Map<string, Owned>();
      siblings.set(uid, { group, resource, uid, namespace: namespaceOf(object), name: nameOf(object) });
      byOwner.set(owner, siblings);
      ownerOf.set(uid, owner);
    },
    of: (ownerUid, resource) =>
      [...(byOwner.get(ownerUid)?.values() ?? [])]
        .filter((owned) => isSameResource(owned, resource))
        .toSorted((one, other) => (one.name < other.name ? -1 : 1))
        .flatMap((owned) => {
          const object = client.get(resource, owned.namespace, owned.name);
          return object !== undefined && uidOf(object) === owned.uid ? [object] : [];
        }),
  };
}
