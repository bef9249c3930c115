import type { DesiredObject } from "../../../lib/apply/desired-objects.ts";
import { formatEntryId } from "../../../lib/apply/set/entry-id.ts";
import { formatApiVersion, type VersionedRef } from "../../../lib/core/object-ref.ts";

/** An object of the core group; without a namespace it is cluster-scoped. */
export const core = (kind: string, name: string, namespace = ""): VersionedRef => ({
  group: "",
  version: "v1",
  kind,
  namespace,
  name,
});

export const namespace = core("Namespace", "t");
export const definition = { ...core("CustomResourceDefinition", "cars.example.com"), group: "apiextensions.k8s.io" };

/** A manifest of that object, as a build leaves it; its digest is `d`. */
export function desired(ref: VersionedRef, more: Partial<DesiredObject> = {}): DesiredObject {
  const metadata = ref.namespace === "" ? { name: ref.name } : { name: ref.name, namespace: ref.namespace };
  const manifest = { apiVersion: formatApiVersion(ref), kind: ref.kind, metadata };
  const plural = `${ref.kind.toLowerCase()}s`;
  const resource = { ...ref, plural, namespaced: ref.namespace !== "", verbs: [] };
  return { id: formatEntryId(ref), ref, manifest, digest: "d", resource, ...more };
}
