import type { HelmReleaseSpec } from "../api/helm-release-spec.ts";
import type { HelmReleaseStatus } from "../api/helm-release-status.ts";
import { parseDuration } from "../core/duration.ts";

/** How a failed action is dealt with (reference helmrelease 2.3, 2.4, 8.2): that of the last attempt counts. */
export interface Remediation {
  readonly action: "install" | "upgrade";
  readonly retries: number;
  readonly failures: number;
  readonly strategy: "rollback" | "uninstall";
  readonly remediatesLast: boolean;
}

/** The remediation of one action. */
export function remediationOf(
  action: "install" | "upgrade",
  spec: HelmReleaseSpec,
  { installFailures = 0, upgradeFailures = 0 }: HelmReleaseStatus,
): Remediation {
  if (action === "install") {
    const { retries = 0, remediateLastFailure = false } = spec.install?.remediation ?? {};
    return { action, retries, failures: installFailures, strategy: "uninstall", remediatesLast: remediateLastFailure };
  }
  const { retries = 0, remediateLastFailure = retries > 0, strategy = "rollback" } = spec.upgrade?.remediation ?? {};
  return { action, retries, failures: upgradeFailures, strategy, remediatesLast: remediateLastFailure };
}

/** That of the last attempt; undefined before the first. */
export function activeRemediation(spec: HelmReleaseSpec, status: HelmReleaseStatus): Remediation | undefined {
  const action = status.lastAttemptedReleaseAction;
  return action === undefined ? undefined : remediationOf(action, spec, status);
}

/** Whether no retry is left. */
export function isExhausted({ retries, failures }: Remediation): boolean {
  return retries >= 0 && failures > retries;
}

const defaultRetryIntervalMs = 5 * 60_000;

/** After how many milliseconds a failed action is retried without remediation; undefined where it is remediated. */
export function retryIntervalMs(action: "install" | "upgrade" | undefined, spec: HelmReleaseSpec): number | undefined {
  if (action === undefined) return undefined;
  const { name, retryInterval } = spec[action]?.strategy ?? {};
  if (name !== "RetryOnFailure") return undefined;
  return retryInterval === undefined ? defaultRetryIntervalMs : parseDuration(retryInterval);
}

/** Whether failed tests need no remediation. */
export function ignoresTestFailures(spec: HelmReleaseSpec, { lastAttemptedReleaseAction }: HelmReleaseStatus): boolean {
  const byTest = spec.test?.ignoreFailures ?? false;
  if (lastAttemptedReleaseAction === undefined) return byTest;
  return spec[lastAttemptedReleaseAction]?.remediation?.ignoreTestFailures ?? byTest;
}
