import type { Json } from "../core/json.ts";
import { plainValue } from "./go-yaml/scalar.ts";
import {
  isReference,
  isSelected,
  type KindSelector,
  type NameReference,
  nameReferences,
  withReferencesAt,
} from "./name-references.ts";
import { Undecided } from "./read-failure.ts";
import { asSourceObject, type SourceObject } from "./read-objects.ts";

/** Kinds whose name kustomize never gives a prefix or suffix. */
function keepsName({ apiVersion, kind }: SourceObject): boolean {
  return (
    kind === "CustomResourceDefinition" ||
    kind === "Namespace" ||
    (kind === "APIService" && apiVersion.startsWith("apiregistration.k8s.io/"))
  );
}

/**
 * kustomize's prefix and suffix transformers, and what it does to the references to renamed objects. Throws {@link Undecided} if a
 * reference may mean several objects, or is of a type that kustomize refuses.
 *
 * @param isUntouched whether nothing was renamed, patched or given a namespace: then kustomize looks for no referred object
 */
export function transformNames(
  objects: readonly SourceObject[],
  { prefix, suffix, isUntouched }: { readonly prefix: string; readonly suffix: string; readonly isUntouched: boolean },
): SourceObject[] {
  const targets = new Map<string, SourceObject[]>();
  const renamed = objects.map((object) => {
    const { name } = object.metadata;
    if (keepsName(object) || (prefix === "" && suffix === "")) return object;
    const target = rename(object, `${prefix}${name}${suffix}`);
    for (const previous of previousNames(name, prefix, suffix)) {
      targets.set(previous, [...(targets.get(previous) ?? []), target]);
    }
    return target;
  });
  return renamed.map((object) => withReferences(object, targets, isUntouched));
}

/** kustomize adds prefix and suffix one after the other, and finds an object by each name that it had. */
function previousNames(name: string, prefix: string, suffix: string): ReadonlySet<string> {
  return new Set(suffix === "" ? [name] : [name, `${prefix}${name}`]);
}

/** @param targets the renamed objects by their previous names */
function withReferences(
  object: SourceObject,
  targets: ReadonlyMap<string, readonly SourceObject[]>,
  isUntouched: boolean,
): SourceObject {
  let changed: Json = object;
  for (const reference of nameReferences.get(object.kind) ?? []) {
    if (!isSelected(object, reference.referrer)) continue;
    changed = withReferencesAt(changed, reference.path, (named) => {
      if (typeof named === "string") return nameNow(named, object, reference, targets);
      if (!isUntouched || !isReference(named)) throw new Undecided("a reference that is a mapping");
      return named;
    });
  }
  return changed === object ? object : asSourceObject(changed);
}

/** kustomize looks for one kind after the other, each time for the name that the field has by then. */
function nameNow(
  name: string,
  referrer: SourceObject,
  reference: NameReference,
  targets: ReadonlyMap<string, readonly SourceObject[]>,
): string {
  const named = (text: string, kind: KindSelector): readonly SourceObject[] =>
    (targets.get(text) ?? []).filter((target) => isSelected(target, kind) && mayReferTo(referrer, target));
  const found = reference.targets.map((kind) => named(name, kind));
  const now = found.flat()[0]?.metadata.name;
  if (now === undefined) return name;
  const isCertain =
    found.every((ofKind) => ofKind.length <= 1) &&
    found.flat().every(({ metadata }) => metadata.name === now) &&
    reference.targets.every((kind) => named(now, kind).length === 0);
  if (!isCertain) throw new Undecided("a reference that may mean several objects");
  return now;
}

function mayReferTo(referrer: SourceObject, target: SourceObject): boolean {
  const namespaceOf = ({ metadata }: SourceObject): string => metadata.namespace ?? "default";
  return isClusterScoped(referrer) || isClusterScoped(target) || namespaceOf(referrer) === namespaceOf(target);
}

function rename(object: SourceObject, name: string): SourceObject {
  const reads = plainValue(name);
  if (reads?.value !== name) throw new Undecided("a name that is not read back as a string");
  return { ...object, metadata: { ...object.metadata, name } };
}

/**
 * The kinds that kustomize knows to be cluster-scoped (kyaml 0.21, `precomputedIsNamespaceScoped`). It gives objects of every
 * other kind a namespace, newer cluster-scoped kinds included.
 */
const clusterScopedKinds: Readonly<Record<string, readonly string[]>> = {
  "admissionregistration.k8s.io/v1": ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
  "admissionregistration.k8s.io/v1beta1": ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
  "apiextensions.k8s.io/v1": ["CustomResourceDefinition"],
  "apiextensions.k8s.io/v1beta1": ["CustomResourceDefinition"],
  "apiregistration.k8s.io/v1": ["APIService"],
  "apiregistration.k8s.io/v1beta1": ["APIService"],
  "certificates.k8s.io/v1": ["CertificateSigningRequest"],
  "certificates.k8s.io/v1beta1": ["CertificateSigningRequest"],
  "flowcontrol.apiserver.k8s.io/v1beta1": ["FlowSchema", "PriorityLevelConfiguration"],
  "networking.k8s.io/v1": ["IngressClass"],
  "networking.k8s.io/v1beta1": ["IngressClass"],
  "node.k8s.io/v1": ["RuntimeClass"],
  "node.k8s.io/v1beta1": ["RuntimeClass"],
  "policy/v1beta1": ["PodSecurityPolicy"],
  "rbac.authorization.k8s.io/v1": ["ClusterRole", "ClusterRoleBinding"],
  "rbac.authorization.k8s.io/v1beta1": ["ClusterRole", "ClusterRoleBinding"],
  "scheduling.k8s.io/v1": ["PriorityClass"],
  "scheduling.k8s.io/v1beta1": ["PriorityClass"],
  "storage.k8s.io/v1": ["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"],
  "storage.k8s.io/v1beta1": ["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"],
  v1: ["ComponentStatus", "Namespace", "Node", "NodeProxyOptions", "PersistentVolume"],
};

/** kustomize's namespace transformer. An empty namespace changes nothing. */
export function transformNamespace(object: SourceObject, namespace: string): SourceObject {
  if (namespace === "" || isClusterScoped(object)) return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}

function isClusterScoped({ apiVersion, kind }: SourceObject): boolean {
  return clusterScopedKinds[apiVersion]?.includes(kind) ?? false;
}
