import { kustomizeGroup } from "../api/names.ts";
import { ownerLabels } from "../api/owner-labels.ts";
import type { Metadata } from "../core/manifest.ts";

type Marked = Pick<Metadata, "labels" | "annotations"> | undefined;

/** Whether a label or annotation of Flux's domain has this value, in any case of letters (reference 1.6). */
function marked(metadata: Marked, key: string, value: string): boolean {
  const name = `${kustomizeGroup}/${key}`;
  const says = (text: string | undefined) => text?.toLowerCase() === value.toLowerCase();
  return says(metadata?.labels?.[name]) || says(metadata?.annotations?.[name]);
}

/** Left alone by apply, prune and delete, wherever it is said: in the manifest or on the live object. */
export function isUnmanaged(metadata: Marked): boolean {
  return marked(metadata, "reconcile", "disabled") || marked(metadata, "ssa", "Ignore");
}

/** Applied only while it does not exist; said in the manifest. */
export function isCreateOnly(desired: Marked): boolean {
  return marked(desired, "ssa", "IfNotPresent");
}

/** Other managers' fields and notes are kept. */
export function isMerged(metadata: Marked): boolean {
  return marked(metadata, "ssa", "Merge");
}

/** Recreated where an immutable field changes. */
export function isForced(metadata: Marked): boolean {
  return marked(metadata, "force", "enabled");
}

/** Kept when it is no longer wanted; said on the live object. */
export function isKept(live: Marked): boolean {
  return marked(live, "prune", "disabled") || isUnmanaged(live);
}

/** Whether the owner labels name this owner. */
export function isOwnedBy(metadata: Marked, owner: { name: string; namespace: string }): boolean {
  return Object.entries(ownerLabels(owner)).every(([key, value]) => metadata?.labels?.[key] === value);
}
