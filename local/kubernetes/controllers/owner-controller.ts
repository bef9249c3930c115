import type { ApiObject } from "../api-object.ts";
import { textOf } from "../rules/json-fields.ts";
import { type Controller, keyOf, parseKey, type Tools } from "./controller.ts";
import type { ResourceName } from "./controller-client.ts";
import { isDeleting, isSameResource, nameOf, namespaceOf, ownersOf } from "./object-facts.ts";

/** A kind whose objects own others, by which they do their work. */
interface Owner {
  readonly name: string;
  readonly kind: string;
  readonly resource: ResourceName;
  readonly owned: ResourceName;
  /** Brings what it owns to what it says. Never called for one that is being deleted. */
  readonly keep: (object: ApiObject, tools: Tools) => void;
}

/** Looks after an object of the kind when it changes, or something that it owns does. */
export function ownerController({ name, kind, resource, owned, keep }: Owner): Controller {
  return {
    name,
    keysOf: (event) => {
      if (isSameResource(event, resource)) return [keyOf(namespaceOf(event.object), nameOf(event.object))];
      return isSameResource(event, owned) ? ownersOfKind(event.object, kind) : [];
    },
    reconcile(key, tools) {
      const { namespace, name: objectName } = parseKey(key);
      const object = tools.client.get(resource, namespace, objectName);
      if (object !== undefined && !isDeleting(object)) keep(object, tools);
    },
  };
}

/** Keys of the owners of that kind. */
function ownersOfKind(object: ApiObject, kind: string): readonly string[] {
  return ownersOf(object)
    .filter((owner) => owner["kind"] === kind && owner["controller"] === true)
    .map((owner) => keyOf(namespaceOf(object), textOf(owner, "name")));
}
