import type { HelmReleaseSpec } from "../api/helm-release-spec.ts";
import type { HelmReleaseStatus } from "../api/helm-release-status.ts";
import type { ReleaseState } from "./release-state.ts";
import { activeRemediation, ignoresTestFailures, isExhausted, remediationOf, retryIntervalMs } from "./remediation.ts";
import { previousGood } from "./snapshot.ts";

/** What to do about a release (reference helmrelease 8.2). */
export type NextAction =
  | { readonly kind: "done" }
  | { readonly kind: "install" }
  | { readonly kind: "test" }
  | { readonly kind: "unlock" }
  /** `forgets`: the history of the status cannot be relied on. */
  | { readonly kind: "upgrade"; readonly forgets?: true }
  | { readonly kind: "rollback"; readonly toVersion: number }
  | { readonly kind: "uninstall" }
  | { readonly kind: "stalled"; readonly reason: "MissingRollbackTarget" | "RetriesExceeded"; readonly message: string }
  | { readonly kind: "undecidable"; readonly reason: string };

export interface Deciding {
  readonly spec: HelmReleaseSpec;
  readonly status: HelmReleaseStatus;
  /** A request to force is not handled yet. */
  readonly isForced: boolean;
}

/** The next action on a release in this state. Pure. */
export function nextAction(state: ReleaseState, deciding: Deciding): NextAction {
  const { isForced, spec, status } = deciding;
  switch (state.kind) {
    case "settled":
      return isForced ? { kind: "upgrade" } : { kind: "done" };
    case "locked":
      return { kind: "unlock" };
    case "absent":
      return !isForced && isExhausted(remediationOf("install", spec, status))
        ? exceeded(deciding)
        : { kind: "install" };
    case "unmanaged":
      return { kind: "upgrade", forgets: true };
    case "outOfSync":
      return !isForced && isExhausted(remediationOf("upgrade", spec, status))
        ? exceeded(deciding)
        : { kind: "upgrade" };
    case "untested":
      return { kind: "test" };
    case "failed":
      return ofFailed(deciding);
    case "unknown":
      return { kind: "undecidable", reason: state.reason };
  }
}

function ofFailed(deciding: Deciding): NextAction {
  const { isForced, spec, status } = deciding;
  const isRetried = retryIntervalMs(status.lastAttemptedReleaseAction, spec) !== undefined;
  const remediation = activeRemediation(spec, status);
  if (isRetried || remediation === undefined || remediation.failures <= 0 || isForced) return { kind: "upgrade" };
  if (isExhausted(remediation) && !remediation.remediatesLast) return exceeded(deciding);
  if (remediation.strategy === "uninstall") return { kind: "uninstall" };
  const previous = previousGood(status.history ?? [], ignoresTestFailures(spec, status));
  return previous === undefined ? missingRollbackTarget : { kind: "rollback", toVersion: previous.version };
}

/** There is no revision to roll back to. */
export const missingRollbackTarget: NextAction = {
  kind: "stalled",
  reason: "MissingRollbackTarget",
  message: "Failed to perform remediation: missing target release for rollback: cannot remediate failed release",
};

function exceeded({ spec, status }: Deciding): NextAction {
  return { kind: "stalled", reason: "RetriesExceeded", message: exceededText(spec, status) };
}

/** `Failed to install after 1 attempt(s)`. */
export function exceededText(spec: HelmReleaseSpec, status: HelmReleaseStatus): string {
  const active = activeRemediation(spec, status);
  return `Failed to ${active?.action ?? ""} after ${active?.failures ?? 0} attempt(s)`;
}
