import type { ObjectRef } from "../../core/object-ref.ts";

/** The objects that the API server deletes together with a namespace or a definition. */
export type CascadeScope =
  | { readonly kind: "namespace"; readonly namespace: string }
  | { readonly kind: "definition"; readonly group: string; readonly plural: string };

/** Undefined if only its own dependents are deleted with it. Pure. */
export function cascadeScopeOf({ group, kind, name }: ObjectRef): CascadeScope | undefined {
  if (group === "" && kind === "Namespace") return { kind: "namespace", namespace: name };
  if (group !== "apiextensions.k8s.io" || kind !== "CustomResourceDefinition") return undefined;
  // The API server accepts no other name for a definition.
  const dot = name.indexOf(".");
  return { kind: "definition", plural: name.slice(0, dot), group: name.slice(dot + 1) };
}

/**
 * Whether an object may be deleted together with this scope, judged by its name alone: the plural of a kind is known only after a request.
 * Pure.
 */
export function mightBeWithin({ group, namespace }: ObjectRef, scope: CascadeScope): boolean {
  return scope.kind === "namespace" ? namespace === scope.namespace : group === scope.group;
}

/**
 * Whether an object goes with it. Pure.
 *
 * @param plural how the cluster serves the object's kind; undefined where it does not, then no definition takes it along
 */
export function isWithin({ group, namespace }: ObjectRef, plural: string | undefined, scope: CascadeScope): boolean {
  switch (scope.kind) {
    case "namespace":
      return namespace === scope.namespace;
    case "definition":
      return group === scope.group && plural === scope.plural;
  }
}
