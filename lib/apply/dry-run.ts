import type { LiveObject } from "../core/manifest.ts";
import { subject } from "../core/object-ref.ts";
import { ApiError, type Cluster, type PartialObject } from "../core/ports/cluster.ts";
import type { Secret } from "../core/secret.ts";
import type { DesiredObject } from "./desired-objects.ts";
import { drifted } from "./drifted.ts";
import { fieldManager, fingerprint } from "./field-managers.ts";
import { heldBy } from "./held-by.ts";
import { isImmutable } from "./immutable.ts";
import { isCreateOnly, isForced, isUnmanaged } from "./opt-outs.ts";
import { createdOnce, type PlannedChange } from "./plan.ts";
import { notReplaced, type ReplaceDeps, reasonNotToReplace } from "./reason-not-to-replace.ts";
import { takeover } from "./takeover.ts";

/** What a dry run says: what the apply would do, or in Flux's words why the API server would refuse it. */
export type DryRun = PlannedChange | { readonly kind: "refused"; readonly message: string };

export interface DryRunDeps {
  readonly cluster: Cluster;
  /** Whether objects may be recreated without saying so themselves. */
  readonly force: boolean;
  readonly replacing: ReplaceDeps;
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
  const { cluster } = deps;
  const options = { manager: fieldManager, force: true, dryRun: true };
  // A listed object is read beside the dry run; an unlisted one seldom exists, so it is read only if the answer says so.
  const early = listed === undefined ? undefined : settled(cluster.get(desired.ref, signal));
  const read = async () => (early === undefined ? cluster.get(desired.ref, signal) : (await early)());
  let tried: { object: LiveObject; created: boolean };
  try {
    tried = await cluster.apply(desired.manifest, options, signal);
  } catch (error) {
    if (!(error instanceof ApiError) || isNoJudgement(error)) throw error;
    return refusal(desired, error, await read(), deps, signal);
  }
  if (tried.created) return { kind: "create" };
  const live = await read();
  return live === undefined ? { kind: "create" } : changeOf(desired, live, tried.object, deps.installationKey);
}

/** Waits for a promise without leaving a rejection unhandled meanwhile; the function returns or throws its outcome. */
async function settled<T>(promise: Promise<T>): Promise<() => T> {
  const [outcome] = await Promise.allSettled([promise]);
  return () => {
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  };
}

function changeOf(desired: DesiredObject, live: LiveObject, tried: LiveObject, key: Secret): PlannedChange {
  const { metadata } = desired.manifest;
  const { uid } = live.metadata;
  if (isUnmanaged(live.metadata)) return { kind: "skipped", uid };
  if (isCreateOnly(metadata)) return createdOnce(desired.manifest, live.metadata);
  const patch = takeover(live.metadata, metadata, desired.manifest.apiVersion);
  if (patch !== undefined || drifted(live, tried)) return { kind: "configure", takeover: patch };
  const finalizers = heldBy(desired.manifest, live.metadata);
  if (finalizers !== undefined) return { kind: "terminating", uid, heldBy: finalizers };
  return { kind: "unchanged", uid, fingerprint: fingerprint(live.metadata.managedFields, key) };
}

async function refusal(
  desired: DesiredObject,
  error: ApiError,
  live: LiveObject | undefined,
  { force, replacing }: DryRunDeps,
  signal: AbortSignal,
): Promise<DryRun> {
  const { metadata } = desired.manifest;
  if (live !== undefined && isUnmanaged(live.metadata)) return { kind: "skipped", uid: live.metadata.uid };
  if (live !== undefined && isCreateOnly(metadata)) return createdOnce(desired.manifest, live.metadata);
  const finalizers = live && heldBy(desired.manifest, live.metadata);
  if (live !== undefined && finalizers !== undefined && isOverOnceGone(error)) {
    return { kind: "terminating", uid: live.metadata.uid, heldBy: finalizers };
  }
  if (live !== undefined && isImmutable(error) && (force || isForced(metadata) || isForced(live.metadata))) {
    const why = await reasonNotToReplace(desired.id, live.metadata, replacing, signal);
    if (why !== undefined) return { kind: "refused", message: notReplaced(desired, why) };
    return { kind: "replace", uid: live.metadata.uid };
  }
  return { kind: "refused", message: dryRunMessage(desired, error) };
}

/** Refused for nothing that could be said of a successor too. */
function isOverOnceGone({ reason, message, causes }: ApiError): boolean {
  const faults = causes.length === 0 ? [message] : causes.map((cause) => cause.message ?? "");
  return faults.every((fault) => isForDeletion(fault) || isImmutable({ reason, message: fault }));
}

function isForDeletion(fault: string): boolean {
  return fault.includes("can be added if the object is being deleted");
}

const noJudgement = new Set([
  "ServerTimeout",
  "ServiceUnavailable",
  "Timeout",
  "TooManyRequests",
  "Unauthorized",
  "Unreachable",
]);

function isNoJudgement({ reason }: ApiError): boolean {
  return noJudgement.has(reason);
}

/** A refusal in Flux's words (reference 3.14, error texts). */
export function dryRunMessage({ ref }: DesiredObject, error: ApiError): string {
  const name = subject(ref);
  if (error.reason === "NotFound") return `${name} not found: ${error.message}`;
  const isFieldConflict = error.causes.some(({ reason }) => reason === "FieldManagerConflict");
  const reason = isFieldConflict ? "FieldManagerConflict" : error.reason === "NoMatch" ? "" : error.reason;
  return `${name} dry-run failed${reason === "" ? "" : ` (${reason})`}: ${error.message}`;
}
