import type { HelmReleaseStatus } from "../../api/helm-release-status.ts";
import { forceAtAnnotation, resetAtAnnotation } from "../../api/names.ts";
import { withoutFailures } from "./action-end.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";

/**
 * Whether a release is forced once, with the status that says so: the request counts if it belongs to the run and was not handled
 * before (reference helmrelease 16). It is handled then, whether or not it counted.
 */
export function takeForce(
  status: HelmReleaseStatus,
  ctx: HelmReleaseContext,
): { readonly isForced: boolean; readonly status: HelmReleaseStatus } {
  const wanted = ctx.live.metadata.annotations?.[forceAtAnnotation];
  if (wanted === undefined) return { isForced: false, status };
  const isForced = isRequested(wanted, status.lastHandledForceAt, ctx);
  return { isForced, status: { ...status, lastHandledForceAt: wanted } };
}

/** The same for a request to reset the counters, which are reset then. */
export function takeReset(status: HelmReleaseStatus, ctx: HelmReleaseContext): HelmReleaseStatus {
  const wanted = ctx.live.metadata.annotations?.[resetAtAnnotation];
  if (wanted === undefined) return status;
  const isReset = isRequested(wanted, status.lastHandledResetAt, ctx);
  return { ...(isReset ? withoutFailures(status) : status), lastHandledResetAt: wanted };
}

function isRequested(
  wanted: string,
  handledBefore: string | undefined,
  { release, requestedAt }: Pick<HelmReleaseContext, "release" | "requestedAt">,
): boolean {
  // By the status as the run found it: the run itself writes that the request is handled only at its end.
  return wanted === requestedAt && wanted !== handledBefore && requestedAt !== release.status.lastHandledReconcileAt;
}
