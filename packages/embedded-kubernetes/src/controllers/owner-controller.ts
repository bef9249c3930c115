import type { ApiObject } from "../core/api-object.ts";
import { objectOf, textOf } from "../core/json-fields.ts";
import { selectorMatches } from "../rules/validation/selectors.ts";
import { type Controller, keyOf, parseKey, type Tools } from "./controller.ts";
import type { ResourceName } from "./controller-client.ts";
import {
  controllerReference,
  controllerUid,
  isDeleting,
  isSameResource,
  metadataOf,
  nameOf,
  namespaceOf,
  ownersOf,
  uidOf,
  withMetadata,
} from "./object-facts.ts";

/** A kind whose objects own others, by which they do their work. */
interface Owner {
  readonly name: string;
  readonly kind: string;
  readonly resource: ResourceName;
  readonly owned: ResourceName;
  /** Whether one may be an object's by its name too. A kind without this adopts nothing and lets nothing go. */
  readonly mayOwn?: (object: ApiObject, candidate: ApiObject) => boolean;
  /** Brings what it owns to what it says. Never called for one that is being deleted. */
  readonly keep: (object: ApiObject, tools: Tools) => void;
}

/** Looks after an object of the kind when it changes, or something that it owns or may adopt does. */
export function ownerController({ name, kind, resource, owned, mayOwn, keep }: Owner): Controller {
  const matches = (object: ApiObject, candidate: ApiObject): boolean =>
    mayOwn?.(object, candidate) === true &&
    selectorMatches(objectOf(objectOf(object, "spec"), "selector"), objectOf(metadataOf(candidate), "labels"));

  return {
    name,
    keysOf: (event, { client }) => {
      if (isSameResource(event, resource)) return [keyOf(namespaceOf(event.object), nameOf(event.object))];
      if (!isSameResource(event, owned)) return [];
      const isOrphan = controllerUid(event.object) === undefined && event.type !== "DELETED";
      if (!isOrphan) return ownersOfKind(event.object, kind);
      if (mayOwn === undefined) return [];
      const heirs = client.list(resource, namespaceOf(event.object)).filter((object) => matches(object, event.object));
      return heirs.map((object) => keyOf(namespaceOf(object), nameOf(object)));
    },
    reconcile(key, tools) {
      const { namespace, name: objectName } = parseKey(key);
      const object = tools.client.get(resource, namespace, objectName);
      if (object === undefined || isDeleting(object)) return;
      if (mayOwn !== undefined) claim(object, owned, (candidate) => matches(object, candidate), tools);
      keep(object, tools);
    },
  };
}

/** Adopts what its selector matches and no other controls, and releases what it no longer matches (`ClaimObject` of kube). */
function claim(
  object: ApiObject,
  owned: ResourceName,
  matches: (candidate: ApiObject) => boolean,
  { client, owned: known }: Tools,
): void {
  const uid = uidOf(object);
  for (const orphan of known.orphans(owned, namespaceOf(object))) {
    if (isDeleting(orphan) || !matches(orphan)) continue;
    const ownerReferences = [...ownersOf(orphan), controllerReference(object)];
    client.update(owned, withMetadata(orphan, { ownerReferences }));
  }
  for (const own of known.of(uid, owned)) {
    if (matches(own)) continue;
    const ownerReferences = ownersOf(own).filter((owner) => owner["uid"] !== uid);
    client.update(owned, withMetadata(own, { ownerReferences }));
  }
}

/** Keys of the owners of that kind. */
function ownersOfKind(object: ApiObject, kind: string): readonly string[] {
  return ownersOf(object)
    .filter((owner) => owner["kind"] === kind && owner["controller"] === true)
    .map((owner) => keyOf(namespaceOf(object), textOf(owner, "name")));
}
