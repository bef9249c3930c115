import type { HelmReleaseStatus } from "../../api/helm-release-status.ts";
import { fullReleaseName } from "../../helm/snapshot.ts";
import type { Drift, DriftCorrection } from "./attempt/action.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";
import { metadataOf, recordRelease } from "./release-events.ts";
import { withConditions } from "./release-status.ts";

/** Says that the cluster differs from the release (reference helmrelease 14, 18). */
export function reportDrift(drift: Drift, status: HelmReleaseStatus, ctx: HelmReleaseContext): HelmReleaseStatus {
  const message = `Cluster state of release ${nameOf(status)} has drifted from the desired state:\n${drift.lines.join("\n")}`;
  ctx.record({ type: "Warning", reason: "DriftDetected", message, annotations: {} });
  return withConditions(status, ctx, { type: "Drifted", status: "True", reason: "DriftDetected", message });
}

/** Says what has become of the correction. */
export function correctDrift(
  correction: DriftCorrection,
  status: HelmReleaseStatus,
  ctx: HelmReleaseContext,
): HelmReleaseStatus {
  const [latest] = status.history ?? [];
  if (latest === undefined) return status;
  const name = nameOf(status);
  if (correction.kind === "corrected") {
    const message = `Cluster state of release ${name} has been corrected:\n${correction.lines.join("\n")}`;
    recordRelease(ctx, { type: "Normal", reason: "DriftCorrected", message }, metadataOf(latest));
    return status;
  }
  const { errors, lines } = correction;
  const partially = lines.length > 0 ? "partially " : "";
  const done = lines.length > 0 ? `\n\nSuccessful corrections:\n${lines.join("\n")}` : "";
  const message = `Failed to ${partially}correct cluster state of release ${name}:\n${errors.join("\n")}${done}`;
  recordRelease(ctx, { type: "Warning", reason: "DriftCorrectionFailed", message }, metadataOf(latest));
  return status;
}

function nameOf({ history = [] }: HelmReleaseStatus): string {
  const [latest] = history;
  return latest === undefined ? "" : fullReleaseName(latest);
}
