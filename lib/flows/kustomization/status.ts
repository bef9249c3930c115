import { findCondition } from "../../api/condition.ts";
import type { KustomizationStatus, Snapshot } from "../../api/kustomization-status.ts";
import { statusInventory } from "../../apply/status-inventory.ts";
import { keyedDigest } from "../../core/digest.ts";
import { formatDuration } from "../../core/duration.ts";
import { kubernetesTime } from "../../core/kubernetes-time.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import type { Secret } from "../../core/secret.ts";
import { removeConditions, type Said, setConditions } from "../conditions.ts";
import type { KustomizationContext } from "./context.ts";

// The status of a Kustomization in Flux's words. Each function answers the next status and writes nothing.

/** The status with these conditions set, for the present generation. */
export function withConditions(
  status: KustomizationStatus,
  ctx: KustomizationContext,
  ...said: readonly Said[]
): KustomizationStatus {
  return setConditions(status, said, { generation: ctx.generation, at: ctx.deps.clock.now() });
}

export function withoutConditions(status: KustomizationStatus, ...types: readonly string[]): KustomizationStatus {
  return removeConditions(status, types);
}

/** The status with this inventory: it shows what is in the cluster however the run ends, for other owners and for Flux. */
export function showing(inventory: readonly InventoryEntry[], ctx: KustomizationContext): KustomizationStatus {
  const status = ctx.status();
  return { ...status, inventory: statusInventory(inventory, status.inventory) };
}

/** A run that is under way and changes something: Ready is Unknown, Reconciling tells the phase. */
export function inProgress(status: KustomizationStatus, phase: string, ctx: KustomizationContext): KustomizationStatus {
  return withConditions(
    withoutConditions(status, "Stalled"),
    ctx,
    { type: "Reconciling", status: "True", reason: "Progressing", message: phase },
    { type: "Ready", status: "Unknown", reason: "Progressing", message: "Reconciliation in progress" },
  );
}

/**
 * The last step of every run (reference 3.1, step 11): copies the handled request, and removes Reconciling if Ready is True, or marks
 * it `ProgressingWithRetry` if Ready is False.
 */
export function handled(status: KustomizationStatus, ctx: KustomizationContext): KustomizationStatus {
  const { requestedAt } = ctx;
  const next = withReconcilingEnded(status, ctx);
  return requestedAt === undefined ? next : { ...next, lastHandledReconcileAt: requestedAt };
}

function withReconcilingEnded(status: KustomizationStatus, ctx: KustomizationContext): KustomizationStatus {
  const { conditions = [] } = status;
  const ready = findCondition(conditions, "Ready")?.status;
  const doing = findCondition(conditions, "Reconciling");
  if (doing === undefined || ready === undefined || ready === "Unknown") return status;
  if (ready === "True") return withoutConditions(status, "Reconciling");
  return withConditions(status, ctx, { ...doing, type: "Reconciling", reason: "ProgressingWithRetry" });
}

/** The event metadata with the revision that an event of a Kustomization is about. */
export function revisionAnnotations(
  revision: string | undefined,
  originRevision: string | undefined,
): Readonly<Record<string, string>> {
  return {
    ...(revision === undefined ? {} : { "kustomize.toolkit.fluxcd.io/revision": revision }),
    ...(originRevision === undefined ? {} : { "kustomize.toolkit.fluxcd.io/originRevision": originRevision }),
  };
}

/** The same for an event about the revision that is in the cluster. */
export function appliedAnnotations(ctx: KustomizationContext): Readonly<Record<string, string>> {
  const { lastAppliedRevision, lastAppliedOriginRevision } = ctx.status();
  return revisionAnnotations(lastAppliedRevision, lastAppliedOriginRevision);
}

export const maxSnapshots = 5;

/** How old `status.history` may be: a periodic run without news does not rewrite it before. */
export const historyAgeMs = 3_600_000;

/** Whether a run has written the status within {@link historyAgeMs}. */
export function isShownOfLate({ history = [] }: KustomizationStatus, now: number): boolean {
  const age = now - Date.parse(history[0]?.lastReconciled ?? "");
  return age > -maxClockSkewMs && age < historyAgeMs;
}

/** By how much the clocks of two machines may differ. */
const maxClockSkewMs = 60_000;

/** One finished reconcile, as `status.history` counts it. */
export interface Finished {
  /** The digest of the build. */
  readonly digest: string;
  /** Where it is set, digests are shown under this key only: what was built carries data of a Secret. */
  readonly key: Secret | undefined;
  /** The reason of the Ready condition. */
  readonly status: string;
  readonly durationMs: number;
  readonly revision: string;
  readonly originRevision: string | undefined;
  /** How many runs with the same end are not in the history yet. */
  readonly unshown?: number;
}

/**
 * `status.history` with this reconcile in front: counted up where digest and status were there before, else new. The
 * newest five are kept (reference 3.18). Flux shows the plain digest of everything; here that is so only where nothing in it
 * is of a Secret, since a value could be guessed by it.
 */
export function withSnapshot(
  former: readonly Snapshot[],
  { digest: built, key, status, durationMs, revision, originRevision, unshown = 0 }: Finished,
  now: number,
): readonly Snapshot[] {
  const digest = shownDigest(built, key);
  // Includes entries of Flux or an earlier release, so that the same build is counted further.
  const history = former.map((entry) => ({ ...entry, digest: shownDigest(entry.digest, key) }));
  const before = history.find((entry) => entry.digest === digest && entry.lastReconciledStatus === status);
  const snapshot: Snapshot = {
    digest,
    firstReconciled: before?.firstReconciled ?? kubernetesTime(now),
    lastReconciled: kubernetesTime(now),
    lastReconciledDuration: formatDuration(durationMs),
    lastReconciledStatus: status,
    totalReconciliations: (before?.totalReconciliations ?? 0) + 1 + unshown,
    metadata: { revision, ...(originRevision === undefined ? {} : { originRevision }) },
  };
  return [snapshot, ...history.filter((entry) => entry !== before)].slice(0, maxSnapshots);
}

/** A keyed digest stays. */
function shownDigest(digest: string, key: Secret | undefined): string {
  return key !== undefined && digest.startsWith("sha256:") ? keyedDigest(key, digest) : digest;
}
