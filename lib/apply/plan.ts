import { someOf } from "../core/cut-text.ts";
import type { Manifest, Metadata } from "../core/manifest.ts";
import { subject } from "../core/object-ref.ts";
import type { PartialObject } from "../core/ports/cluster.ts";
import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import type { Secret } from "../core/secret.ts";
import type { DesiredObject } from "./desired-objects.ts";
import { proofDigest } from "./ignore/ignore-rules.ts";
import type { PruneDecision } from "./prune/decisions.ts";
import type { ApplyRules } from "./set/apply-rules.ts";
import { parseEntryId } from "./set/entry-id.ts";
import { fingerprint } from "./set/field-managers.ts";
import type { LiveObjects } from "./set/live-objects.ts";
import { type Takeover, takeover } from "./takeover.ts";
import { blockingFinalizers, mayVanish } from "./terminating.ts";

/** The plan for one wanted object. */
export type PlannedChange =
  /** As asked for: proven by digests, or shown by a dry run. `fingerprint` is that of the live object. */
  | {
      readonly kind: "unchanged";
      readonly uid: string;
      readonly fingerprint: string | undefined;
      /** The fields of it that are ignored, if any: a part of the proof. */
      readonly ignored?: readonly string[];
    }
  /** Left alone because the manifest or the live object says so. */
  | { readonly kind: "skipped"; readonly uid: string | undefined }
  /** Being deleted, and nothing of it to change: to be created again once it is gone. `blockingFinalizers`: its finalizers. */
  | { readonly kind: "terminating"; readonly uid: string; readonly blockingFinalizers: readonly string[] }
  | { readonly kind: "create" }
  /**
   * `takeover`: what to take from other managers, or to migrate, before the apply. `payload`: sent in place of the manifest while the live
   * object is as planned, since some of its fields are ignored.
   */
  | {
      readonly kind: "configure";
      readonly takeover: Takeover | undefined;
      readonly payload?: Manifest;
      /** The owner in the labels of the live object, if it is another one. */
      readonly labelled?: LabelledOwner;
    }
  /** Applied in this attempt and changed by another client since: left until the next attempt. `entry`: as the inventory has it. */
  | { readonly kind: "drifted"; readonly entry: InventoryEntry }
  /** Delete the object and create it again, since an immutable field changes and force was asked for. */
  | { readonly kind: "replace"; readonly uid: string }
  /** An earlier stage of the same set applies its definition or namespace: the object is checked after that. */
  | { readonly kind: "deferred" };

/** An owner as its labels name it. */
export interface LabelledOwner {
  readonly name: string;
  readonly namespace: string;
}

export interface PlannedObject {
  readonly desired: DesiredObject;
  readonly change: PlannedChange;
}

/** The plan of a reconcile, as plain data. Nothing is written before it is complete. */
export interface Plan {
  /** In apply order. */
  readonly objects: readonly PlannedObject[];
  /** What happens to inventory entries that the new manifests do not contain, in apply order. Decided again right before the deletion. */
  readonly prune: readonly PruneDecision[];
}

/** What is known about an object without asking the cluster; `unproven` ones need a dry run. */
export type FirstLook = PlannedChange | { readonly kind: "unproven"; readonly live: PartialObject | undefined };

export interface FirstLookDeps {
  readonly rules: ApplyRules;
  /** Under which the digests of the inventory were made; see `KustomizationDeps.installationKey`. */
  readonly installationKey: Secret;
  /**
   * Whether an earlier run applied this set and its health is still waited for: what has ended and gone meanwhile is not begun
   * again.
   */
  readonly isAwaited: boolean;
  /**
   * Whether this run only checks the health of what an earlier one applied. Then changes by other clients are left alone, as Flux leaves
   * them during its wait: otherwise two owners of one object would overwrite it by turns with every check.
   */
  readonly isLook: boolean;
}

/**
 * Proves that an object is unchanged since the last apply: the same uid, the same desired digest, the same fingerprint of our
 * managed-fields entry, and no entry of a manager whose edits we revert. Pure.
 *
 * @internal Exported for its tests.
 */
export function firstLook(
  desired: DesiredObject,
  entry: InventoryEntry | undefined,
  live: PartialObject | undefined,
  deps: FirstLookDeps,
): FirstLook {
  const wanted = desired.manifest.metadata;
  const { isCreateOnly, isUnmanaged } = deps.rules.style.optOuts;
  if (isUnmanaged(wanted) || isUnmanaged(live?.metadata)) return { kind: "skipped", uid: live?.metadata.uid };
  if (live === undefined)
    return (deps.isAwaited ? ended(desired, entry, deps) : undefined) ?? { kind: "unproven", live };
  if (isCreateOnly(wanted)) return createdOnce(desired.manifest, live.metadata, deps.rules);
  const ignored = deps.rules.ignore.pathsFor({ ...desired.manifest, metadata: live.metadata });
  return isProven(desired, entry, live.metadata, ignored, deps)
    ? { kind: "unchanged", uid: live.metadata.uid, fingerprint: entry?.fingerprint, ...ifAny(ignored) }
    : { kind: "unproven", live };
}

/** An object that is applied only while it does not exist: left alone, unless it is terminating. */
export function createdOnce(
  wanted: Manifest,
  live: Metadata & { readonly uid: string },
  rules: Pick<ApplyRules, "style">,
): PlannedChange {
  const finalizers = blockingFinalizers(wanted, live, rules);
  if (finalizers === undefined) return { kind: "skipped", uid: live.uid };
  return { kind: "terminating", uid: live.uid, blockingFinalizers: finalizers };
}

/**
 * What a run does with an object after its dry run. A health check of applied objects does not write those that were applied in this form
 * already. Pure.
 */
export function atThisLook<Change extends { readonly kind: string }>(
  desired: DesiredObject,
  change: Change,
  entry: InventoryEntry | undefined,
  { installationKey, isLook, rules }: FirstLookDeps,
): Change | PlannedChange {
  const isRewrite = change.kind === "configure" || change.kind === "replace";
  if (!isLook || !isRewrite || entry?.state !== "live") return change;
  const ignored = rules.ignore.pathsFor(desired.manifest);
  return entry.desired === proofDigest(desired, ignored, installationKey) ? { kind: "drifted", entry } : change;
}

/** The object was applied as wanted, has finished and is gone: there is nothing to do for it. */
function ended(
  desired: DesiredObject,
  entry: InventoryEntry | undefined,
  { installationKey, rules }: FirstLookDeps,
): PlannedChange | undefined {
  if (entry?.state !== "live" || entry.uid === undefined || !mayVanish(desired.manifest)) return undefined;
  const ignored = rules.ignore.pathsFor(desired.manifest);
  if (entry.desired !== proofDigest(desired, ignored, installationKey)) return undefined;
  return { kind: "unchanged", uid: entry.uid, fingerprint: entry.fingerprint, ...ifAny(ignored) };
}

/** The ignored fields as a part of a change. */
export function ifAny(ignored: readonly string[]): { readonly ignored?: readonly string[] } {
  return ignored.length === 0 ? {} : { ignored };
}

function isProven(
  desired: DesiredObject,
  entry: InventoryEntry | undefined,
  live: Metadata & { readonly uid: string },
  ignored: readonly string[],
  { installationKey, rules }: FirstLookDeps,
): boolean {
  return (
    entry?.state === "live" &&
    entry.uid === live.uid &&
    entry.desired === proofDigest(desired, ignored, installationKey) &&
    entry.version === desired.ref.version &&
    entry.fingerprint !== undefined &&
    entry.fingerprint === fingerprint(live.managedFields, installationKey, rules.style) &&
    live.deletionTimestamp === undefined &&
    takeover(live, desired.manifest, rules) === undefined
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

const untouched: ReadonlySet<PlannedChange["kind"]> = new Set(["unchanged", "skipped", "terminating", "drifted"]);

/** Whether anything would be written to the cluster, or an entry leaves the inventory. An object that waits for its next owner changes nothing. */
export function changesAnything({ objects, prune }: Plan): boolean {
  return prune.some(({ kind }) => kind !== "handOver") || objects.some(({ change }) => !untouched.has(change.kind));
}

/**
 * The warning for a plan that prunes everything because nothing is wanted any longer: this is either intended, or the build is wrong.
 * Undefined for any other plan, and if all of it has been reported already. Pure.
 */
export function emptiedWarning({ objects, prune }: Plan): string | undefined {
  const going = prune.filter(({ entry, kind }) => entry.state !== "deleting" && kind !== "handOver");
  if (objects.length > 0 || going.length === 0) return undefined;
  const names = going.map(({ entry }) => subject(parseEntryId(entry.id)));
  return `no objects in this revision: pruning all that there are, ${someOf(names)}`;
}
