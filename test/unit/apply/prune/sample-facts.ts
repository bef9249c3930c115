import { ownerLabels } from "../../../../lib/api/names.ts";
import type { EntryFacts, PruneFacts, Seen } from "../../../../lib/apply/prune/facts.ts";
import { formatEntryId } from "../../../../lib/apply/set/entry-id.ts";
import { kustomizationStyle } from "../../../../lib/apply/set/owner-style.ts";
import type { ManagedFieldsEntry, Metadata } from "../../../../lib/core/manifest.ts";
import type { ObjectRef } from "../../../../lib/core/object-ref.ts";
import type { InventoryEntry } from "../../../../lib/core/ports/inventory-store.ts";

export const owner = { name: "app", namespace: "team", clusterUid: "cluster", style: kustomizationStyle };

export const ref = (name: string, more: Partial<ObjectRef> = {}): ObjectRef => ({
  group: "",
  kind: "ConfigMap",
  namespace: "t",
  name,
  ...more,
});

export const ourApply: ManagedFieldsEntry = {
  manager: kustomizationStyle.manager,
  operation: "Apply",
  apiVersion: "v1",
};

/** What a hand-over owns that has put other owner labels on an object. */
export const handOverUpdate: ManagedFieldsEntry = {
  manager: kustomizationStyle.manager,
  operation: "Update",
  apiVersion: "v1",
  fieldsV1: { "f:metadata": { "f:labels": { "f:kustomize.toolkit.fluxcd.io/name": {} } } },
};

/** An object of ours as we have applied it. */
export function there(name: string, more: Partial<Metadata> = {}, plural = "configmaps"): Seen {
  const labels = ownerLabels(owner);
  const metadata = { name, uid: `uid-${name}`, resourceVersion: "7", labels, managedFields: [ourApply], ...more };
  return { kind: "there", version: "v1", plural, metadata };
}

/** An entry that is no longer wanted: live, ours, and of no other owner. */
export function unwanted(
  of: ObjectRef,
  { object = there(of.name), claimants = [], ...entry }: Partial<EntryFacts> & Partial<InventoryEntry> = {},
): EntryFacts {
  const id = formatEntryId(of);
  return {
    entry: { id, version: "v1", uid: `uid-${of.name}`, state: "live", ...entry },
    ref: of,
    object,
    claimants,
  };
}

/** Facts of a revision that wants nothing and of which nothing else is known. */
export function factsOf(entries: readonly EntryFacts[], more: Partial<PruneFacts> = {}): PruneFacts {
  return {
    owner,
    clusterUid: owner.clusterUid,
    policy: "prune",
    isFinalizing: false,
    wanted: [],
    expected: [],
    owners: [],
    entries,
    ...more,
  };
}
