import { kindOf } from "../../api/kinds/declaration.ts";
import { isFluxGroup, type ReconciledKinds } from "../../api/kinds/unreconciled.ts";
import { sourceGroup } from "../../api/names.ts";
import type { ReceiverResource, ReceiverSpec } from "../../api/receiver.ts";
import { withoutVolatile } from "../../api/selectable-metadata.ts";
import type { ObjectSelector } from "../../core/follows.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { toJsonObject } from "../../core/json.ts";
import type { Metadata } from "../../core/manifest.ts";
import { parseApiVersion, subject } from "../../core/object-ref.ts";
import type { PartialObject } from "../../core/ports/cluster.ts";
import type { IndexedResource } from "../../core/ports/receiver-index.ts";

/** Objects of one kind in one namespace, from which a Receiver selects some. */
export interface Pool {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespace: string;
}

/**
 * What an entry of `spec.resources` selects from: a pool, or the reason why it can select nothing. `isUnreconciled`: a kind of Flux
 * that Sluice does not reconcile, so there is nothing to wake, and no fault of the Receiver.
 */
type Asked = Pool & { readonly fault?: string; readonly isUnreconciled?: true };

export interface SelectionRules {
  /** Of the Receiver. */
  readonly namespace: string;
  readonly kinds: ReconciledKinds;
  readonly noCrossNamespaceRefs: boolean;
}

/** API versions for entries without one (reference notifications 9). */
const defaultVersions: Readonly<Partial<Record<ReceiverResource["kind"], string>>> = {
  Bucket: `${sourceGroup}/v1`,
  HelmChart: `${sourceGroup}/v1`,
  HelmRepository: `${sourceGroup}/v1`,
  GitRepository: `${sourceGroup}/v1`,
  OCIRepository: `${sourceGroup}/v1`,
  ImageRepository: "image.toolkit.fluxcd.io/v1",
  ArtifactGenerator: "source.extensions.fluxcd.io/v1beta1",
};

/** The pools that must be listed to select by these entries, each once. */
export function poolsOf({ resources }: ReceiverSpec, rules: SelectionRules): readonly Pool[] {
  const asked = resources
    .map((resource) => askedBy(resource, rules))
    .filter(({ fault, isUnreconciled }) => fault === undefined && isUnreconciled !== true);
  return [...new Map(asked.map((pool) => [poolKey(pool), pool])).values()];
}

/** The entries whose kinds Sluice does not reconcile, as `Kind/namespace/name`, each once. */
export function unreconciledEntries({ resources }: ReceiverSpec, rules: SelectionRules): readonly string[] {
  const names = resources.flatMap((resource) => {
    const { isUnreconciled, kind, namespace } = askedBy(resource, rules);
    return isUnreconciled === true ? [subject({ kind, namespace, name: resource.name })] : [];
  });
  return [...new Set(names)];
}

/** The objects that the entries select from each pool, by {@link poolKey}. */
export function selectorsByPool(
  { resources }: ReceiverSpec,
  rules: SelectionRules,
): ReadonlyMap<string, ObjectSelector[]> {
  const found = new Map<string, ObjectSelector[]>();
  for (const resource of resources) {
    const pool = poolKey(askedBy(resource, rules));
    const { name, matchLabels = {} } = resource;
    found.set(pool, [...(found.get(pool) ?? []), name === "*" ? { labels: matchLabels } : { name }]);
  }
  return found;
}

/** The result for the objects of the pools. @param listed the objects of a pool, by {@link poolKey} */
export function selectResources(
  spec: ReceiverSpec,
  rules: SelectionRules,
  listed: ReadonlyMap<string, readonly PartialObject[]>,
): readonly IndexedResource[] {
  return spec.resources.map((resource) => {
    const { fault, isUnreconciled, ...pool } = askedBy(resource, rules);
    const isFiltered = [resource.filter, spec.resourceFilter].some((filter = "") => filter !== "");
    const label = subject({ kind: resource.kind, namespace: pool.namespace, name: resource.name });
    const own = { label, ...pool, ...(resource.filter === undefined ? {} : { filter: resource.filter }) };
    if (fault !== undefined) return { ...own, fault, objects: [] };
    if (isUnreconciled === true) return { ...own, objects: [] };
    const present = listed.get(poolKey(pool)) ?? [];
    const isAll = resource.name === "*";
    const found = present.filter(({ metadata }) =>
      isAll ? hasLabels(metadata, resource.matchLabels ?? {}) : metadata.name === resource.name,
    );
    if (!isAll && found.length === 0) return { ...own, fault: `${label} does not exist`, objects: [] };
    const objects = found.map(({ metadata }) => ({
      name: metadata.name,
      ...(isFiltered ? { metadata: shownToFilters(metadata) } : {}),
    }));
    return { ...own, objects: objects.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
  });
}

export function poolKey({ group, kind, namespace }: Pool): string {
  return `${group}/${kind}/${namespace}`;
}

function askedBy(resource: ReceiverResource, { namespace: own, kinds, noCrossNamespaceRefs }: SelectionRules): Asked {
  const { kind, name, namespace = own, matchLabels } = resource;
  const apiVersion = resource.apiVersion ?? "";
  const named = apiVersion === "" ? defaultVersions[kind] : apiVersion;
  // As in Flux, the text after a second slash is ignored.
  const pool = { ...parseApiVersion((named ?? "").split("/", 2).join("/")), kind, namespace };
  if (named === undefined) return { ...pool, fault: `apiVersion must be specified for kind "${kind}"` };
  if (noCrossNamespaceRefs && namespace !== own) {
    return { ...pool, fault: "cross-namespace references are not allowed" };
  }
  if (name === "*" && matchLabels === undefined) {
    return { ...pool, fault: "matchLabels field not set when using wildcard '*' as name" };
  }
  const reconciled = kindOf(pool, kinds);
  if (reconciled === undefined) {
    if (isFluxGroup(pool.group)) return { ...pool, isUnreconciled: true };
    return { ...pool, fault: `kind ${kind} of ${named} is not reconciled by this Sluice, so no webhook can wake it` };
  }
  if (!reconciled.versions.includes(pool.version)) return { ...pool, fault: `${named} does not serve ${kind}` };
  return { ...pool, version: reconciled.versions[0] };
}

function hasLabels({ labels = {} }: Metadata, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}

/** `res.metadata` of a filter: only what seldom changes, since the entry is written again when it does. */
function shownToFilters(metadata: Metadata): JsonObject {
  const { name, namespace, uid, creationTimestamp, labels, annotations, finalizers, ownerReferences } = metadata;
  const shown: Readonly<Record<string, Json | undefined>> = toJsonObject({
    ...{ name, namespace, uid, creationTimestamp, finalizers, ownerReferences },
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations: withoutVolatile(annotations) }),
  });
  return toJsonObject(shown);
}
