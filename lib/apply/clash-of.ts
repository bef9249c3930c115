import type { Manifest } from "../core/manifest.ts";
import { type ObjectRef, subject } from "../core/object-ref.ts";

/** Says why two manifests cannot both be applied: in the cluster, or in the inventory, they are one object. */
export function clashOf(ref: ObjectRef, first: Manifest, second: Manifest): string {
  const name = subject(ref);
  if (first.metadata.name !== second.metadata.name) {
    const one = subject({ ...ref, name: first.metadata.name });
    return `${one} and ${name} cannot both be in one Kustomization: in an inventory, as Flux writes it, : in such a name is __, so both have the same entry; rename one of them`;
  }
  const twice = `${name} is in the manifests twice`;
  if (first.apiVersion !== second.apiVersion) {
    return `${twice}, as ${first.apiVersion} and as ${second.apiVersion}: keep one of them`;
  }
  if (first.metadata.namespace !== second.metadata.namespace) {
    const [one = "none", other = "none"] = [first.metadata.namespace, second.metadata.namespace];
    return `${twice}, with the namespaces ${one} and ${other}, though its kind has none: keep one of them`;
  }
  return `${twice}: keep one of them`;
}
