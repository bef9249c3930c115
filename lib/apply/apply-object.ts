import type { JsonObject } from "../core/json.ts";
import type { LiveObject } from "../core/manifest.ts";
import { subject } from "../core/object-ref.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError, type Cluster } from "../core/ports/cluster.ts";
import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import type { Secret } from "../core/secret.ts";
import type { DesiredObject } from "./desired-objects.ts";
import { fieldManager, fingerprint } from "./field-managers.ts";
import { heldBy } from "./held-by.ts";
import { judgedOnly, maxLooks } from "./judged-only.ts";
import type { PlannedChange } from "./plan.ts";
import { lookAFewTimes } from "./poll.ts";
import { notReplaced, type ReplaceDeps, reasonNotToReplace } from "./reason-not-to-replace.ts";
import { rehearse } from "./rehearse.ts";
import { takeover } from "./takeover.ts";

/** What one apply did, in Flux's words. */
export type Change = "created" | "configured" | "unchanged" | "skipped";

export interface AppliedObject {
  readonly desired: DesiredObject;
  readonly change: Change;
  /** How it stands in the inventory from now on. */
  readonly entry: InventoryEntry;
  /** Only where it is being deleted although it is wanted: the finalizers that hold it. */
  readonly heldBy?: readonly string[];
}

/** The object could not be applied; the message begins with its subject, as Flux's do. */
export class ApplyError extends Error {
  override readonly name = "ApplyError";
}

/** An object is being deleted so that it can be created anew, and something still holds it: look again later. */
export class StillTerminating extends Error {
  override readonly name = "StillTerminating";
}

export interface ApplyDeps {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly replacing: ReplaceDeps;
  /** Under which the digests of the inventory are made. */
  readonly installationKey: Secret;
}

/**
 * Carries out what was planned for one object.
 *
 * @throws ApplyError where the API server refuses it
 * @throws StillTerminating where a replaced object is held by a finalizer
 */
export async function applyObject(
  desired: DesiredObject,
  change: Exclude<PlannedChange, { kind: "deferred" }>,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<AppliedObject> {
  switch (change.kind) {
    case "unchanged":
      return { desired, change: "unchanged", entry: entryOf(desired, change.uid, change.fingerprint) };
    case "skipped":
      return { desired, change: "skipped", entry: entryOf(desired, change.uid, undefined) };
    case "terminating":
      return {
        desired,
        change: "unchanged",
        entry: entryOf(desired, change.uid, undefined),
        heldBy: change.heldBy,
      };
    case "create":
      return send(desired, deps, signal);
    case "configure":
      if (change.takeover !== undefined) await takeOver(desired, change.takeover, deps, signal);
      return send(desired, deps, signal);
    case "replace":
      await makeWay(desired, change.uid, deps, signal);
      return send(desired, deps, signal);
  }
}

function entryOf(desired: DesiredObject, uid: string | undefined, mark: string | undefined): InventoryEntry {
  return {
    id: desired.id,
    version: desired.ref.version,
    ...(uid === undefined ? {} : { uid }),
    ...(mark === undefined ? {} : { fingerprint: mark, desired: desired.digest }),
    state: "live",
  };
}

async function send(
  desired: DesiredObject,
  { cluster, installationKey }: ApplyDeps,
  signal: AbortSignal,
): Promise<AppliedObject> {
  try {
    const { object, created } = await cluster.apply(desired.manifest, { manager: fieldManager, force: true }, signal);
    const finalizers = heldBy(desired.manifest, object.metadata);
    return {
      desired,
      change: created ? "created" : "configured",
      entry: entryOf(desired, object.metadata.uid, fingerprint(object.metadata.managedFields, installationKey)),
      ...(finalizers === undefined ? {} : { heldBy: finalizers }),
    };
  } catch (error) {
    throw refused(error, `${subject(desired.ref)} apply failed`);
  }
}

/** Controllers may write the status of a busy object many times a second, and each write makes the patch stale. */
const maxTakeoverTries = 6;

/** The patch names the version that it was made for; where somebody wrote in between, it is made anew. */
async function takeOver(
  desired: DesiredObject,
  patch: readonly JsonObject[],
  { cluster, clock }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  let body: readonly JsonObject[] | undefined = patch;
  for (let tries = 1; body !== undefined; tries++) {
    try {
      await cluster.patch(desired.ref, { type: "json", body }, { manager: fieldManager }, signal);
      return;
    } catch (error) {
      if (error instanceof ApiError && error.reason === "NotFound") return;
      const isStale = error instanceof ApiError && (error.reason === "Conflict" || error.reason === "Invalid");
      if (!isStale || tries === maxTakeoverTries) {
        throw refused(error, `${subject(desired.ref)} metadata.managedFields cleanup failed`);
      }
      await clock.sleep(5 * 2 ** tries, signal);
      const live = await cluster.get(desired.ref, signal);
      body = live && takeover(live.metadata, desired.manifest.metadata, desired.manifest.apiVersion);
    }
  }
}

/** Deletes the object that stands in the way of its successor and sees it gone. */
async function makeWay(desired: DesiredObject, uid: string, deps: ApplyDeps, signal: AbortSignal): Promise<void> {
  const { cluster, clock } = deps;
  const name = subject(desired.ref);
  if (desired.ref.kind === "CustomResourceDefinition" || desired.ref.kind === "Namespace") {
    throw new ApplyError(
      `${name} immutable field detected, failed to delete object: recreating it would delete everything in it; delete it by hand if that is meant`,
    );
  }
  await assertRecreatable(desired, cluster, signal);
  await deleteJudged(desired, uid, deps, signal);
  const isGone = (live: LiveObject | undefined) => (live === undefined || live.metadata.uid !== uid ? true : undefined);
  const gone = await lookAFewTimes(async () => isGone(await cluster.get(desired.ref, signal)), clock, signal);
  if (gone === undefined)
    throw new StillTerminating(`${name} immutable field detected, waiting for object to be deleted`);
}

/** Judges the object as it is now and deletes that; where another writer came in between, it judges again. */
async function deleteJudged(
  desired: DesiredObject,
  uid: string,
  { cluster, replacing }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  for (let look = 1; ; look++) {
    const live = await cluster.get(desired.ref, signal);
    if (live === undefined || live.metadata.uid !== uid) return;
    const why = await reasonNotToReplace(desired.id, live.metadata, replacing, signal);
    if (why !== undefined) throw new ApplyError(notReplaced(desired, why));
    try {
      await cluster.delete(desired.ref, judgedOnly(live.metadata), signal);
      return;
    } catch (error) {
      const isStale = error instanceof ApiError && error.reason === "Conflict";
      if (isStale && look < maxLooks) continue;
      throw refused(error, `${subject(desired.ref)} immutable field detected, failed to delete object`);
    }
  }
}

/**
 * Before the old object is deleted, the new one must be one that the API server would take. Flux deletes first, and where
 * the new one is invalid is left with none.
 */
async function assertRecreatable(desired: DesiredObject, cluster: Cluster, signal: AbortSignal): Promise<void> {
  const refusal = await rehearse(desired, desired.ref.namespace, cluster, signal);
  if (refusal === undefined) return;
  throw refused(
    refusal,
    `${subject(desired.ref)} immutable field detected, kept the present object since its successor is refused`,
  );
}

function refused(error: unknown, what: string): unknown {
  return error instanceof ApiError ? new ApplyError(`${what}: ${error.message}`, { cause: error }) : error;
}
