import type { LiveObject, Manifest } from "../core/manifest.ts";
import { subject } from "../core/object-ref.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError } from "../core/ports/cluster.ts";
import type { TargetCluster } from "../core/ports/home-and-target.ts";
import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import type { Secret } from "../core/secret.ts";
import type { DesiredObject } from "./desired-objects.ts";
import { dryRunElsewhere } from "./dry-run-elsewhere.ts";
import { proofDigest } from "./ignore/ignore-rules.ts";
import { payloadOf } from "./ignored-fields.ts";
import type { PlannedChange } from "./plan.ts";
import { lookAFewTimes } from "./poll.ts";
import { notReplaced, type ReplaceDeps, reasonNotToReplace } from "./reason-not-to-replace.ts";
import { isUnserved } from "./refusals.ts";
import { type ApplyRules, applyOptions } from "./set/apply-rules.ts";
import { fingerprint } from "./set/field-managers.ts";
import { maxLooks, preconditionsOf } from "./set/preconditions.ts";
import { type Takeover, takeover } from "./takeover.ts";
import { blockingFinalizers } from "./terminating.ts";

/** The result of one apply, in Flux's words. */
export type Change = "created" | "configured" | "unchanged" | "skipped";

export interface AppliedObject {
  readonly desired: DesiredObject;
  readonly change: Change;
  /** The entry's state in the inventory from now on. */
  readonly entry: InventoryEntry;
  /** The finalizers that block the deletion, if the object is being deleted although it is wanted. */
  readonly blockingFinalizers?: readonly string[];
}

/** The object could not be applied; the message begins with its subject, as Flux's do. */
export class ApplyError extends Error {
  override readonly name = "ApplyError";
}

/** An object is being deleted so that it can be created again, and something still holds it: look again later. */
export class StillTerminating extends Error {
  override readonly name = "StillTerminating";
}

/** The set brings the definition, and the API server that was asked does not serve its kind yet: look again later. */
export class StillUnserved extends Error {
  override readonly name = "StillUnserved";
}

export interface ApplyDeps {
  readonly cluster: TargetCluster;
  readonly clock: Clock;
  readonly replacing: ReplaceDeps;
  readonly rules: ApplyRules;
  /** Under which the digests of the inventory are made. */
  readonly installationKey: Secret;
}

/**
 * Carries out what was planned for one object.
 *
 * @throws ApplyError where the API server refuses it
 * @throws StillTerminating where a replaced object is held by a finalizer
 * @throws StillUnserved where the set brings the object's definition, and the API server that is asked does not serve it yet
 */
export async function applyObject(
  desired: DesiredObject,
  change: Exclude<PlannedChange, { kind: "deferred" }>,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<AppliedObject> {
  switch (change.kind) {
    case "unchanged":
      return {
        desired,
        change: "unchanged",
        entry: entryOf(
          desired,
          change.uid,
          change.fingerprint,
          proofDigest(desired, change.ignored ?? [], deps.installationKey),
        ),
      };
    case "drifted":
      return { desired, change: "unchanged", entry: change.entry };
    case "skipped":
      return { desired, change: "skipped", entry: entryOf(desired, change.uid, undefined) };
    case "terminating":
      return {
        desired,
        change: "unchanged",
        entry: entryOf(desired, change.uid, undefined),
        blockingFinalizers: change.blockingFinalizers,
      };
    case "create":
      return send(desired, deps, signal);
    case "configure":
      if (change.takeover !== undefined) await takeOver(desired, change.takeover, deps, signal);
      // A takeover has changed the object that the payload was made for.
      return change.payload === undefined
        ? send(desired, deps, signal)
        : sendPayload(desired, change.takeover === undefined ? change.payload : undefined, deps, signal);
    case "replace":
      await makeWay(desired, change.uid, deps, signal);
      return send(desired, deps, signal);
  }
}

function entryOf(
  desired: DesiredObject,
  uid: string | undefined,
  mark: string | undefined,
  proof = desired.digest,
): InventoryEntry {
  return {
    id: desired.id,
    version: desired.ref.version,
    ...(uid === undefined ? {} : { uid }),
    ...(mark === undefined ? {} : { fingerprint: mark, desired: proof }),
    state: "live",
  };
}

async function send(
  desired: DesiredObject,
  { cluster, installationKey, rules }: ApplyDeps,
  signal: AbortSignal,
  payload = desired.manifest,
): Promise<AppliedObject> {
  try {
    const { object, created } = await cluster.apply(payload, applyOptions(rules), signal);
    const mark = fingerprint(object.metadata.managedFields, installationKey, rules.style);
    const proof = proofDigest(desired, rules.ignore.pathsFor(object), installationKey);
    const finalizers = blockingFinalizers(desired.manifest, object.metadata, rules);
    return {
      desired,
      change: created ? "created" : "configured",
      entry: entryOf(desired, object.metadata.uid, mark, proof),
      ...(finalizers === undefined ? {} : { blockingFinalizers: finalizers }),
    };
  } catch (error) {
    throw refused(desired, error, "apply failed");
  }
}

/** Controllers may write the status of a busy object many times a second, and each write makes a patch or payload stale. */
const maxTries = 6;

/**
 * Applies an object with ignored fields. The payload is for one version of the live object; if another client writes in between, what it
 * wrote may be an ignored field, and the payload is built again.
 */
async function sendPayload(
  desired: DesiredObject,
  planned: Manifest | undefined,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<AppliedObject> {
  let payload = planned ?? (await presentPayload(desired, deps, signal));
  for (let tries = 1; ; tries++) {
    try {
      return await send(desired, deps, signal, payload);
    } catch (error) {
      const isStale =
        error instanceof ApplyError && error.cause instanceof ApiError && error.cause.reason === "Conflict";
      if (!isStale || tries === maxTries) throw error;
      await deps.clock.sleep(5 * 2 ** tries, signal);
      payload = await presentPayload(desired, deps, signal);
    }
  }
}

async function presentPayload(
  desired: DesiredObject,
  { cluster, rules }: ApplyDeps,
  signal: AbortSignal,
): Promise<Manifest> {
  try {
    const live = await cluster.get(desired.ref, signal);
    if (live === undefined) return desired.manifest;
    const options = { ...applyOptions(rules), dryRun: true };
    const { object: tried } = await cluster.apply(desired.manifest, options, signal);
    return payloadOf(desired.manifest, live, tried, rules.ignore.pathsFor(tried), rules.style);
  } catch (error) {
    throw refused(desired, error, "apply failed");
  }
}

/** The patch names the version of the object that it was made for; if another client writes in between, the patch is made again. */
async function takeOver(
  desired: DesiredObject,
  planned: Takeover,
  { cluster, clock, rules }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const { manifest, ref } = desired;
  let current: Takeover | undefined = planned;
  for (let tries = 1; current !== undefined; tries++) {
    const step: Takeover = current;
    try {
      const patched = await cluster.patch(
        ref,
        { type: "json", body: step.patch },
        { manager: rules.style.manager },
        signal,
      );
      // A patch in a new version may set its defaults, which then are an update of ours: it is taken over at once.
      if (!step.migrates || tries === maxTries) return;
      current = takeover(patched.metadata, manifest, rules);
    } catch (error) {
      if (error instanceof ApiError && error.reason === "NotFound") return;
      const isStale = error instanceof ApiError && (error.reason === "Conflict" || error.reason === "Invalid");
      if (!isStale || tries === maxTries) throw refused(desired, error, takeoverFault(step, manifest));
      await clock.sleep(5 * 2 ** tries, signal);
      const live = await cluster.get(ref, signal);
      current = live && takeover(live.metadata, manifest, rules);
    }
  }
}

function takeoverFault({ migrates }: Takeover, { apiVersion }: Manifest): string {
  return migrates
    ? `failed to migrate API version: failed to migrate managed fields API version to ${apiVersion}`
    : "metadata.managedFields cleanup failed";
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
  await assertRecreatable(desired, deps, signal);
  await deleteForReplace(desired, uid, deps, signal);
  const isGone = (live: LiveObject | undefined) => (live === undefined || live.metadata.uid !== uid ? true : undefined);
  const gone = await lookAFewTimes(async () => isGone(await cluster.get(desired.ref, signal)), clock, signal);
  if (gone === undefined)
    throw new StillTerminating(`${name} immutable field detected, waiting for object to be deleted`);
}

/** Decides about the live object and deletes that version; if another client wrote in between, it decides again. */
async function deleteForReplace(
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
      await cluster.delete(desired.ref, preconditionsOf(live.metadata), signal);
      return;
    } catch (error) {
      const isStale = error instanceof ApiError && error.reason === "Conflict";
      if (isStale && look < maxLooks) continue;
      throw refused(desired, error, "immutable field detected, failed to delete object");
    }
  }
}

/**
 * Before the old object is deleted, the new one must be one that the API server would take. Flux deletes first: if the new object is
 * invalid, none is left.
 */
async function assertRecreatable(
  desired: DesiredObject,
  { cluster, rules }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const refusal = await dryRunElsewhere(desired, desired.ref.namespace, { cluster, rules }, signal);
  if (refusal === undefined) return;
  const what = "immutable field detected, kept the present object since its successor is refused";
  throw refused(desired, refusal, what);
}

function refused(desired: DesiredObject, error: unknown, what: string): unknown {
  if (!(error instanceof ApiError)) return error;
  const message = `${subject(desired.ref)} ${what}: ${error.message}`;
  return isUnserved(desired, error)
    ? new StillUnserved(message, { cause: error })
    : new ApplyError(message, { cause: error });
}
