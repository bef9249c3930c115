import type { JsonObject } from "../core/json.ts";
import type { Manifest, Metadata } from "../core/manifest.ts";
import type { PartialObject } from "../core/ports/cluster.ts";
import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import type { Secret } from "../core/secret.ts";
import type { DesiredObject } from "./desired-objects.ts";
import { fingerprint } from "./field-managers.ts";
import { heldBy } from "./held-by.ts";
import type { LiveObjects } from "./live-objects.ts";
import { mayVanish } from "./may-vanish.ts";
import { isCreateOnly, isUnmanaged } from "./opt-outs.ts";
import type { PruneDecision } from "./prune/decisions.ts";
import { takeover } from "./takeover.ts";

/** What is to happen to one wanted object. */
export type PlannedChange =
  /** As asked for: proven by digests, or shown by a dry run. `fingerprint` is that of the live object. */
  | { readonly kind: "unchanged"; readonly uid: string; readonly fingerprint: string | undefined }
  /** Left alone because the manifest or the live object says so. */
  | { readonly kind: "skipped"; readonly uid: string | undefined }
  /** Being deleted, and nothing of it to change: to be created anew once it is gone. `heldBy`: its finalizers. */
  | { readonly kind: "terminating"; readonly uid: string; readonly heldBy: readonly string[] }
  | { readonly kind: "create" }
  /** `takeover`: what to take from other managers before the apply. */
  | { readonly kind: "configure"; readonly takeover: readonly JsonObject[] | undefined }
  /** Delete this one and create it anew, since an immutable field changes and force was asked for. */
  | { readonly kind: "replace"; readonly uid: string }
  /** Its definition or namespace comes with an earlier stage of the same set: judged when that is there. */
  | { readonly kind: "deferred" };

export interface PlannedObject {
  readonly desired: DesiredObject;
  readonly change: PlannedChange;
}

/** What a reconcile is about to do. A value: `sluice diff` prints it, a dry run stops at it, guards judge it. */
export interface Plan {
  /** In apply order. */
  readonly objects: readonly PlannedObject[];
  /** What becomes of the entries of the inventory that are no longer wanted, in apply order. Decided anew right before it is done. */
  readonly prune: readonly PruneDecision[];
}

/** What can be said of an object without asking the cluster about it; `unproven` ones need a dry run. */
export type FirstLook = PlannedChange | { readonly kind: "unproven"; readonly live: PartialObject | undefined };

export interface FirstLookDeps {
  /** Under which the digests of the inventory were made; see `KustomizationDeps.installationKey`. */
  readonly installationKey: Secret;
  /**
   * Whether an earlier run applied this set and its health is still waited for: what has ended and gone meanwhile is not begun
   * again.
   */
  readonly isAwaited: boolean;
}

/**
 * Proves objects unchanged by what the last apply left: the same uid, the same desired digest, the same fingerprint of our
 * managed-fields entry, and no entry of a manager whose edits we revert. Pure.
 *
 * @internal Exported for its tests.
 */
export function firstLook(
  desired: DesiredObject,
  entry: InventoryEntry | undefined,
  live: PartialObject | undefined,
  { installationKey, isAwaited }: FirstLookDeps,
): FirstLook {
  const wanted = desired.manifest.metadata;
  if (isUnmanaged(wanted) || isUnmanaged(live?.metadata)) return { kind: "skipped", uid: live?.metadata.uid };
  if (live === undefined) return (isAwaited ? ended(desired, entry) : undefined) ?? { kind: "unproven", live };
  if (isCreateOnly(wanted)) return createdOnce(desired.manifest, live.metadata);
  return isProven(desired, entry, live.metadata, installationKey)
    ? { kind: "unchanged", uid: live.metadata.uid, fingerprint: entry?.fingerprint }
    : { kind: "unproven", live };
}

/** What is applied only while it does not exist: left alone, but for one that is about to exist no more. */
export function createdOnce(wanted: Manifest, live: Metadata & { readonly uid: string }): PlannedChange {
  const finalizers = heldBy(wanted, live);
  if (finalizers === undefined) return { kind: "skipped", uid: live.uid };
  return { kind: "terminating", uid: live.uid, heldBy: finalizers };
}

/** The object was applied as it is wanted, has ended and is gone: there is nothing to do for it. */
function ended(desired: DesiredObject, entry: InventoryEntry | undefined): PlannedChange | undefined {
  if (entry?.state !== "live" || entry.uid === undefined || entry.desired !== desired.digest) return undefined;
  if (!mayVanish(desired.manifest)) return undefined;
  return { kind: "unchanged", uid: entry.uid, fingerprint: entry.fingerprint };
}

function isProven(
  desired: DesiredObject,
  entry: InventoryEntry | undefined,
  live: Metadata & { readonly uid: string },
  key: Secret,
): boolean {
  return (
    entry?.state === "live" &&
    entry.uid === live.uid &&
    entry.desired === desired.digest &&
    entry.version === desired.ref.version &&
    entry.fingerprint !== undefined &&
    entry.fingerprint === fingerprint(live.managedFields, key) &&
    live.deletionTimestamp === undefined &&
    takeover(live, desired.manifest.metadata, desired.manifest.apiVersion) === undefined
  );
}

/** The first look at a whole set. Pure. */
export function firstLooks(
  desired: readonly DesiredObject[],
  inventory: readonly InventoryEntry[],
  live: LiveObjects,
  deps: FirstLookDeps,
): readonly { readonly desired: DesiredObject; readonly look: FirstLook }[] {
  const entries = new Map(inventory.map((entry) => [entry.id, entry]));
  return desired.map((object) => ({
    desired: object,
    look: firstLook(object, entries.get(object.id), live.get(object.id), deps),
  }));
}

const untouched: ReadonlySet<PlannedChange["kind"]> = new Set(["unchanged", "skipped", "terminating"]);

/** Whether anything would be written to the cluster, or an entry leaves the inventory. What waits for its heir changes nothing. */
export function changesAnything({ objects, prune }: Plan): boolean {
  return prune.some(({ kind }) => kind !== "handOver") || objects.some(({ change }) => !untouched.has(change.kind));
}
