import type { ObjectRef } from "../../core/object-ref.ts";

const rbacGroup = "rbac.authorization.k8s.io";
const rbacKinds = new Set(["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"]);

/**
 * The inventory key Flux stores in `status.inventory.entries[].id`: `<namespace>_<name>_<group>_<kind>`.
 *
 * RBAC names may hold a colon, which is not a legal key character, so `:` travels as `__`. Keys written by Flux must
 * keep parsing: a changed format would orphan every object already in a user's inventory.
 */
export function formatEntryId({ group, kind, namespace, name }: ObjectRef): string {
  const encoded = group === rbacGroup && rbacKinds.has(kind) ? name.replaceAll(":", "__") : name;
  return `${namespace}_${encoded}_${group}_${kind}`;
}

/** Reads {@link formatEntryId}'s text and Flux's; throws `unable to parse stored object metadata: <id>` for any other. */
export function parseEntryId(id: string): ObjectRef {
  const first = id.indexOf("_");
  const last = id.lastIndexOf("_");
  const middle = id.lastIndexOf("_", last - 1);
  if (middle <= first || last === id.length - 1) {
    throw new RangeError(`unable to parse stored object metadata: ${id}`);
  }
  return {
    namespace: id.slice(0, first),
    name: id.slice(first + 1, middle).replaceAll("__", ":"),
    group: id.slice(middle + 1, last),
    kind: id.slice(last + 1),
  };
}

/** {@link parseEntryId} for untrusted text; undefined if it is not an id. */
export function readEntryId(id: string): ObjectRef | undefined {
  try {
    return parseEntryId(id);
  } catch {
    return undefined;
  }
}
