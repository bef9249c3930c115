import type { LiveObject } from "../core/manifest.ts";
import { subject } from "../core/object-ref.ts";
import { ApiError, type PartialObject } from "../core/ports/cluster.ts";
import type { TargetCluster } from "../core/ports/home-and-target.ts";
import type { Secret } from "../core/secret.ts";
import type { DesiredObject } from "./desired-objects.ts";
import { drifted } from "./drifted.ts";
import { dryRunElsewhere } from "./dry-run-elsewhere.ts";
import { payloadOf } from "./ignored-fields.ts";
import { createdOnce, ifAny, type PlannedChange } from "./plan.ts";
import { notReplaced, type ReplaceDeps, reasonNotToReplace } from "./reason-not-to-replace.ts";
import { dryRunMessage, isAboutFields, isImmutable, isNoJudgement, isOverOnceGone, isUnserved } from "./refusals.ts";
import { type ApplyRules, applyOptions } from "./set/apply-rules.ts";
import { fingerprint } from "./set/field-managers.ts";
import { otherOwnerOf } from "./set/opt-outs.ts";
import type { OwnerStyle } from "./set/owner-style.ts";
import { takeover } from "./takeover.ts";
import { blockingFinalizers } from "./terminating.ts";

/** The answer of a dry run: what the apply would do, or in Flux's words why the API server would refuse it. */
export type DryRun = PlannedChange | Refused;

export interface Refused {
  readonly kind: "refused";
  readonly message: string;
  /** The answer of the API server, if the refusal is from it. */
  readonly error?: ApiError;
}

export interface DryRunDeps {
  readonly cluster: TargetCluster;
  /** Whether objects may be recreated without saying so themselves. */
  readonly force: boolean;
  readonly replacing: ReplaceDeps;
  readonly rules: ApplyRules;
  /** Under which the digests of the inventory are made. */
  readonly installationKey: Secret;
}

/**
 * Tries an apply without storing anything.
 *
 * @throws ApiError where the API server could not judge the object at all: unreachable, overloaded, timed out
 */
export async function dryRun(
  desired: DesiredObject,
  listed: PartialObject | undefined,
  deps: DryRunDeps,
  signal: AbortSignal,
): Promise<DryRun> {
  const { cluster, rules } = deps;
  const options = { ...applyOptions(rules), dryRun: true };
  // A listed object is read along with the dry run; an unlisted one seldom exists, so it is read only if the answer says so.
  const get = () => readIfAllowed(desired.ref, cluster, signal);
  const early = listed === undefined ? undefined : settled(get());
  const read = async () => (early === undefined ? get() : (await early)());
  let tried: { object: LiveObject; created: boolean };
  try {
    tried = await cluster.apply(desired.manifest, options, signal);
  } catch (error) {
    if (!(error instanceof ApiError) || isNoJudgement(error)) throw error;
    // Without its kind there is nothing to read.
    if (isUnserved(desired, error)) {
      return { kind: "refused", message: dryRunMessage(desired, error), error };
    }
    const live = await read();
    return refusal(desired, error, live === "forbidden" ? undefined : live, deps, signal);
  }
  if (tried.created) return { kind: "create" };
  const live = await read();
  // The answer of the dry run also shows changes by other managers; it does not show which changes are the apply's own.
  if (live === "forbidden") return unseen(desired, tried.object, deps);
  return live === undefined ? { kind: "create" } : changeOf(desired, live, tried.object, deps);
}

/** The account that applies may have the right to write an object and not to read it. */
async function readIfAllowed(
  ref: DesiredObject["ref"],
  cluster: DryRunDeps["cluster"],
  signal: AbortSignal,
): Promise<LiveObject | "forbidden" | undefined> {
  try {
    return await cluster.get(ref, signal);
  } catch (error) {
    if (error instanceof ApiError && error.reason === "Forbidden") return "forbidden";
    throw error;
  }
}

function unseen({ manifest, ref }: DesiredObject, tried: LiveObject, { rules }: DryRunDeps): DryRun {
  const { metadata } = tried;
  const { isCreateOnly, isUnmanaged } = rules.style.optOuts;
  if (isUnmanaged(metadata)) return { kind: "skipped", uid: metadata.uid };
  if (isCreateOnly(manifest.metadata)) return createdOnce(manifest, metadata, rules);
  if (rules.ignore.pathsFor(tried).length === 0) return { kind: "configure", takeover: undefined };
  const message = `${subject(ref)} spec.ignore is for it, and its account may not get it: the ignored fields cannot be kept; allow get`;
  return { kind: "refused", message };
}

/** Waits for a promise without leaving a rejection unhandled meanwhile; the function returns or throws its outcome. */
async function settled<T>(promise: Promise<T>): Promise<() => T> {
  const [outcome] = await Promise.allSettled([promise]);
  return () => {
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  };
}

function changeOf(
  desired: DesiredObject,
  live: LiveObject,
  tried: LiveObject,
  { installationKey, rules }: DryRunDeps,
): PlannedChange {
  const { metadata } = desired.manifest;
  const { uid } = live.metadata;
  const { isCreateOnly, isUnmanaged } = rules.style.optOuts;
  if (isUnmanaged(live.metadata)) return { kind: "skipped", uid };
  if (isCreateOnly(metadata)) return createdOnce(desired.manifest, live.metadata, rules);
  const patch = takeover(live.metadata, desired.manifest, rules);
  const ignored = rules.ignore.pathsFor(tried);
  if (patch !== undefined || drifted(live, tried, ignored, rules.style)) {
    const payload =
      ignored.length === 0 ? {} : { payload: payloadOf(desired.manifest, live, tried, ignored, rules.style) };
    const labelled = otherOwnerOf(live.metadata, metadata);
    return { kind: "configure", takeover: patch, ...payload, ...(labelled && { labelled }) };
  }
  const finalizers = blockingFinalizers(desired.manifest, live.metadata, rules);
  if (finalizers !== undefined) return { kind: "terminating", uid, blockingFinalizers: finalizers };
  const mark = fingerprint(live.metadata.managedFields, installationKey, rules.style);
  return { kind: "unchanged", uid, fingerprint: mark, ...ifAny(ignored) };
}

async function refusal(
  desired: DesiredObject,
  error: ApiError,
  live: LiveObject | undefined,
  deps: DryRunDeps,
  signal: AbortSignal,
): Promise<DryRun> {
  const { force, replacing, rules } = deps;
  const { isCreateOnly, isForced, isUnmanaged } = rules.style.optOuts;
  const { metadata } = desired.manifest;
  if (live !== undefined && isUnmanaged(live.metadata)) return { kind: "skipped", uid: live.metadata.uid };
  if (live !== undefined && isCreateOnly(metadata)) return createdOnce(desired.manifest, live.metadata, rules);
  const finalizers = live && blockingFinalizers(desired.manifest, live.metadata, rules);
  if (live !== undefined && finalizers !== undefined && isOverOnceGone(error)) {
    return { kind: "terminating", uid: live.metadata.uid, blockingFinalizers: finalizers };
  }
  if (live !== undefined && isImmutable(error) && (force || isForced(metadata) || isForced(live.metadata))) {
    const why = await reasonNotToReplace(desired.id, live.metadata, replacing, signal);
    if (why !== undefined) return { kind: "refused", message: notReplaced(desired, why) };
    return { kind: "replace", uid: live.metadata.uid };
  }
  const migration = live && (await migrationFirst(desired, error, live, deps, signal));
  const message = dryRunMessage(desired, error);
  const isUnchangeable = live !== undefined && isImmutable(error);
  return migration ?? { kind: "refused", message: isUnchangeable ? withMend(message, rules.style) : message, error };
}

/**
 * Flux's gate `MigrateAPIVersion`: while managed fields are of an older version, the API server may refuse an object over a field that only
 * the new version has. Flux migrates before the dry run. A plan writes nothing, so the object is tried under another name, and if its
 * fields are right, the migration comes with its apply.
 */
async function migrationFirst(
  desired: DesiredObject,
  error: ApiError,
  live: LiveObject,
  { cluster, rules }: DryRunDeps,
  signal: AbortSignal,
): Promise<PlannedChange | undefined> {
  if (!error.message.includes("field not declared in schema")) return undefined;
  const patch = takeover(live.metadata, desired.manifest, rules);
  if (patch?.migrates !== true) return undefined;
  const elsewhere = await dryRunElsewhere(desired, desired.ref.namespace, { cluster, rules }, signal);
  if (elsewhere !== undefined && isAboutFields(elsewhere)) return undefined;
  // With ignored fields the payload is made after the migration, when a dry run is possible.
  const payload = rules.ignore.pathsFor(live).length === 0 ? {} : { payload: desired.manifest };
  return { kind: "configure", takeover: patch, ...payload };
}

/** The mend stands behind Flux's text, before a line break at its end. */
function withMend(message: string, { toRecreate }: Pick<OwnerStyle, "toRecreate">): string {
  const text = message.trimEnd();
  return `${text}; ${toRecreate}${message.slice(text.length)}`;
}
