import { kustomizeGroup, type LabelledName, ownerLabels } from "../../api/names.ts";
import type { Metadata } from "../../core/manifest.ts";

type Marked = Pick<Metadata, "labels" | "annotations"> | undefined;

/** Whether a label or annotation of Flux's domain has this value, in any case of letters (reference 1.6). */
function marked(metadata: Marked, key: string, value: string): boolean {
  return markOf(metadata, key, value) !== undefined;
}

/** The label or annotation as messages show it. */
function markOf(metadata: Marked, key: string, value: string): string | undefined {
  const name = `${kustomizeGroup}/${key}`;
  const says = (text: string | undefined) => text?.toLowerCase() === value.toLowerCase();
  return says(metadata?.labels?.[name]) || says(metadata?.annotations?.[name]) ? `${name}: ${value}` : undefined;
}

/** Left alone by apply, prune and delete, wherever it is said: in the manifest or on the live object. */
export function isUnmanaged(metadata: Marked): boolean {
  return leftAloneBy(metadata) !== undefined;
}

function leftAloneBy(metadata: Marked): string | undefined {
  return markOf(metadata, "reconcile", "disabled") ?? markOf(metadata, "ssa", "Ignore");
}

/** Which label or annotation makes an apply skip an object. `live`: undefined also if it was not read. */
export function skippedBy(desired: Marked, live: Marked): string {
  const inManifest = leftAloneBy(desired) ?? markOf(desired, "ssa", "IfNotPresent");
  if (inManifest !== undefined) return `${inManifest} in the manifest`;
  return `${leftAloneBy(live) ?? "a label or annotation"} on the object in the cluster`;
}

/** Applied only while it does not exist; said in the manifest. */
export function isCreateOnly(desired: Marked): boolean {
  return marked(desired, "ssa", "IfNotPresent");
}

/** Other managers' fields and annotations are kept. */
export function isMerged(metadata: Marked): boolean {
  return marked(metadata, "ssa", "Merge");
}

/** Recreated where an immutable field changes. */
export function isForced(metadata: Marked): boolean {
  return marked(metadata, "force", "enabled");
}

/** The label or annotation of the live object that protects it from being pruned, if any. */
export function keptBy(live: Marked): string | undefined {
  return unprunedBy(live) ?? leftAloneBy(live);
}

/** The label or annotation that protects an object from every prune, if it has one. */
export function unprunedBy(live: Marked): string | undefined {
  return markOf(live, "prune", "disabled");
}

/** The owner in the owner labels, unless it is the wanted object's. */
export function otherOwnerOf(
  live: Marked,
  wanted: Marked,
): { readonly name: string; readonly namespace: string } | undefined {
  const [name, namespace] = Object.keys(ownerLabels({ name: "", namespace: "" })).map((key) => live?.labels?.[key]);
  if (name === undefined || namespace === undefined) return undefined;
  return isOwnedBy(wanted, { name, namespace }) ? undefined : { name, namespace };
}

/** Whether the owner labels name this owner. */
export function isOwnedBy(metadata: Marked, owner: LabelledName): boolean {
  return Object.entries(ownerLabels(owner)).every(([key, value]) => metadata?.labels?.[key] === value);
}
