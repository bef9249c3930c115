import { helmGroup, kustomizeGroup } from "../api/names.ts";
import { type ObjectRef, parseApiVersion, subject } from "../core/object-ref.ts";
import type { PartialObject } from "../core/ports/cluster.ts";
import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import type { Claim } from "../core/ports/ledger.ts";
import { formatEntryId } from "./set/entry-id.ts";
import { ownEntry } from "./set/field-managers.ts";
import { helmReleaseStyle, kustomizationStyle, type OwnerStyle } from "./set/owner-style.ts";

/** Each selects the objects with the owner labels of one kind, of any owner. */
export const ownedSelectors = [kustomizeGroup, helmGroup].map((group) => `${group}/name,${group}/namespace`);

/** A Kustomization or HelmRelease, and the entries of its inventory and its status. */
export interface KnownOwner {
  readonly kind: OwnerKind;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly entries: readonly Pick<InventoryEntry, "id" | "state">[];
}

type OwnerKind = "HelmRelease" | "Kustomization";

export interface OrphanFacts {
  /** All objects with owner labels, of each kind that the cluster serves; listed before the inventories were read. */
  readonly objects: readonly PartialObject[];
  readonly owners: readonly KnownOwner[];
  /** The whole ledger, read before the inventories; empty if there is none to read. */
  readonly claims: readonly Claim[];
}

export interface Orphan {
  readonly ref: ObjectRef;
  readonly apiVersion: string;
  readonly uid: string;
  /** The owner that its labels name. */
  readonly owner: { readonly namespace: string; readonly name: string };
  readonly reason: `its ${OwnerKind} is gone` | `its ${OwnerKind} does not list it`;
  /** When it was last changed by an apply, by its managed fields; undefined where they do not say. */
  readonly lastApplied: string | undefined;
}

/** A claim without anything behind it: it may keep other owners from deleting the object. */
export interface LeakedClaim extends Claim {
  readonly reason: "its owner is gone" | "its owner no longer has it";
}

export interface Orphans {
  readonly objects: readonly Orphan[];
  readonly claims: readonly LeakedClaim[];
}

/**
 * Objects that were applied and are in no inventory, so that no prune will ever delete them. An inventory of any owner counts, in whatever
 * state its entry is: what `prune: false` has let go is retained there, and what a suspended Kustomization has stays there too. Pure.
 */
export function orphans({ objects, owners, claims }: OrphanFacts): Orphans {
  const known = new Set(owners.flatMap(({ entries }) => entries.map(({ id }) => id)));
  const living = new Set(owners.map(ownerKey));
  // An object that several groups serve, such as an Event, has several ids.
  const byUid = Map.groupBy(
    objects.filter((object) => isApplied(object) && !isHook(object)),
    ({ metadata }) => metadata.uid,
  );
  const found = [...byUid.values()].flatMap((same) => {
    const [object] = same;
    if (object === undefined || same.some((each) => known.has(formatEntryId(refOfObject(each))))) return [];
    return [orphanOf(object, living)];
  });
  return { objects: found.toSorted(byOwner), claims: leakedClaims(owners, claims) };
}

/** Labels are also copied to objects that are made from an applied object: such an object has its own owner and is deleted with it. */
function isApplied(object: PartialObject): boolean {
  const { kind, metadata } = object;
  if (ownEntry(metadata.managedFields, labelledAs(object).style) !== undefined) return true;
  return kind !== "Endpoints" && (metadata.ownerReferences ?? []).length === 0;
}

/** An object of a hook is in no inventory: its delete policy says when it is deleted. */
function isHook({ metadata }: PartialObject): boolean {
  return metadata.annotations?.["helm.sh/hook"] !== undefined;
}

interface Labelled {
  readonly kind: OwnerKind;
  readonly group: string;
  readonly style: OwnerStyle;
}

const ofKustomization: Labelled = { kind: "Kustomization", group: kustomizeGroup, style: kustomizationStyle };
const ofHelmRelease: Labelled = { kind: "HelmRelease", group: helmGroup, style: helmReleaseStyle };

/** The kind of the owner that the labels of an object name: a Kustomization where they name both. */
function labelledAs({ metadata: { labels } }: PartialObject): Labelled {
  return labels?.[`${kustomizeGroup}/name`] === undefined ? ofHelmRelease : ofKustomization;
}

function orphanOf(object: PartialObject, living: ReadonlySet<string>): Orphan {
  const { labels = {}, managedFields, uid } = object.metadata;
  const { group, kind, style } = labelledAs(object);
  const owner = { namespace: labels[`${group}/namespace`] ?? "", name: labels[`${group}/name`] ?? "" };
  return {
    ref: refOfObject(object),
    apiVersion: object.apiVersion,
    uid,
    owner,
    reason: living.has(ownerKey({ kind, ...owner })) ? `its ${kind} does not list it` : `its ${kind} is gone`,
    lastApplied: ownEntry(managedFields, style)?.time,
  };
}

function leakedClaims(owners: readonly KnownOwner[], claims: readonly Claim[]): readonly LeakedClaim[] {
  const held = new Map(
    owners.map(({ uid, entries }) => [
      uid,
      new Set(entries.filter(({ state }) => state !== "retained").map(({ id }) => id)),
    ]),
  );
  return claims.flatMap((claim): readonly LeakedClaim[] => {
    const ids = held.get(claim.ownerUid);
    if (ids === undefined) return [{ ...claim, reason: "its owner is gone" }];
    return ids.has(claim.id) ? [] : [{ ...claim, reason: "its owner no longer has it" }];
  });
}

function refOfObject({ apiVersion, kind, metadata }: PartialObject): ObjectRef {
  const { name, namespace = "" } = metadata;
  return { group: parseApiVersion(apiVersion).group, kind, namespace, name };
}

function ownerKey({ kind, namespace, name }: Pick<KnownOwner, "kind" | "name" | "namespace">): string {
  return `${kind}/${namespace}/${name}`;
}

function byOwner(a: Orphan, b: Orphan): number {
  const text = ({ owner, ref }: Orphan): string => `${owner.namespace}/${owner.name} ${subject(ref)}`;
  return text(a) < text(b) ? -1 : 1;
}
