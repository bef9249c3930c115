import { findCondition, isTrue } from "../../api/condition.ts";
import type { HelmReleaseStatus } from "../../api/helm-release-status.ts";
import { removeConditions, type Said, setConditions } from "../conditions.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";

/** The status with these conditions, for the generation of the run. */
export function withConditions(
  status: HelmReleaseStatus,
  { deps, generation }: Pick<HelmReleaseContext, "deps" | "generation">,
  ...said: readonly Said[]
): HelmReleaseStatus {
  return setConditions(status, said, { generation, at: deps.clock.now() });
}

export function withoutConditions(status: HelmReleaseStatus, ...types: readonly string[]): HelmReleaseStatus {
  return removeConditions(status, types);
}

/** The run goes on with this: Reconciling, and not Stalled. */
export function reconciling(
  status: HelmReleaseStatus,
  said: Pick<Said, "message" | "reason">,
  ctx: Pick<HelmReleaseContext, "deps" | "generation">,
): HelmReleaseStatus {
  return withConditions(withoutConditions(status, "Stalled"), ctx, { type: "Reconciling", status: "True", ...said });
}

/** The request for a run is answered. */
export function handled(
  status: HelmReleaseStatus,
  { requestedAt }: Pick<HelmReleaseContext, "requestedAt">,
): HelmReleaseStatus {
  return requestedAt === undefined ? status : { ...status, lastHandledReconcileAt: requestedAt };
}

/** The generation is finished for now. */
export function observed(
  status: HelmReleaseStatus,
  { generation }: Pick<HelmReleaseContext, "generation">,
): HelmReleaseStatus {
  return { ...status, observedGeneration: generation };
}

/** In the order of their weight for Ready. */
const summarised = ["Remediated", "TestSuccess", "Released"];

/**
 * Ready as Flux summarises it (reference helmrelease 14): the newest of Remediated, TestSuccess and Released. Remediated never makes it
 * True. Ready=True ends Stalled.
 */
export function summarise(status: HelmReleaseStatus, ctx: HelmReleaseContext): HelmReleaseStatus {
  const { enable = false, ignoreFailures = false } = ctx.release.spec.test ?? {};
  const left = enable ? status : withoutConditions(status, "TestSuccess");
  const types = enable && !ignoreFailures ? summarised : summarised.filter((type) => type !== "TestSuccess");
  const [first] = types
    .flatMap((type) => findCondition(left.conditions ?? [], type) ?? [])
    .toSorted((a, b) => (b.observedGeneration ?? 0) - (a.observedGeneration ?? 0));
  if (first === undefined) return left;
  const { reason, message } = first;
  const ready = {
    type: "Ready",
    status: first.type === "Remediated" ? "False" : first.status,
    reason,
    message,
  } as const;
  const next = withConditions(left, ctx, ready);
  return ready.status === "True" ? withoutConditions(next, "Stalled") : next;
}

export function isReady(status: HelmReleaseStatus): boolean {
  return isTrue(status.conditions ?? [], "Ready");
}
