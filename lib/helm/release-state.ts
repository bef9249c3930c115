import type { HelmReleaseSpec } from "../api/helm-release-spec.ts";
import type { HelmReleaseStatus } from "../api/helm-release-status.ts";
import type { ChartMetadata } from "../core/ports/helm-engine.ts";
import type { StoredRevision } from "./release-store.ts";
import { ignoresTestFailures } from "./remediation.ts";
import { hasFailedTest, isTested } from "./snapshot.ts";

/** How a release stands to what is wanted (reference helmrelease 8.1). `settled`: as wanted, but for drift, which nothing here tells. */
export type ReleaseState =
  | { readonly kind: "absent"; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "locked"; readonly reason: string }
  | { readonly kind: "outOfSync"; readonly reason: string }
  | { readonly kind: "settled" }
  | { readonly kind: "unknown"; readonly reason: string }
  | { readonly kind: "unmanaged"; readonly reason: string }
  | { readonly kind: "untested" };

/** The HelmRelease and the chart that a release is compared with. */
export interface Wanted {
  readonly spec: HelmReleaseSpec;
  readonly status: HelmReleaseStatus;
  readonly generation: number;
  readonly chart: ChartMetadata;
  readonly configDigest: string;
  readonly postRenderersDigest: string;
  readonly commonMetadataDigest: string;
}

/** The state of a release by its latest revision, whose digest is made with that of the artifact in the snapshot. Pure. */
export function releaseState(last: StoredRevision | undefined, wanted: Wanted): ReleaseState {
  if (last === undefined) return { kind: "absent", reason: "no release in storage for object" };
  const { status } = last.observed;
  if (status.startsWith("pending-")) return { kind: "locked", reason: `release with status '${status}'` };
  const [latest] = wanted.status.history ?? [];
  if (latest === undefined) {
    return status === "uninstalled"
      ? { kind: "absent", reason: "found uninstalled release in storage" }
      : { kind: "unmanaged", reason: "found existing release in storage" };
  }
  // Also by the helm command with --keep-history: Flux tries an upgrade for ever, which cannot succeed.
  if (status === "uninstalled") return { kind: "absent", reason: "found uninstalled release in storage" };
  if (latest.apiVersion === "v2" && latest.digest !== last.observed.digest) {
    return { kind: "unmanaged", reason: "release not observed to be made for object" };
  }
  switch (status) {
    case "failed":
      return { kind: "failed", reason: "release failed" };
    case "deployed":
      return ofDeployed(last, wanted);
    case "pending-install":
    case "pending-rollback":
    case "pending-upgrade":
    case "superseded":
    case "uninstalling":
    case "unknown":
      return { kind: "unknown", reason: `unable to determine state for release with status '${status}'` };
  }
}

function ofDeployed(last: StoredRevision, wanted: Wanted): ReleaseState {
  const { chart, configDigest, generation, spec, status } = wanted;
  const { observed } = last;
  const [latest] = status.history ?? [];
  if (observed.chart.name !== chart.name || observed.chart.version !== chart.version) {
    return { kind: "outOfSync", reason: "release chart changed" };
  }
  if (latest?.configDigest !== configDigest) return { kind: "outOfSync", reason: "release config values changed" };
  const isReleased = status.conditions?.find(({ type }) => type === "Released")?.status === "True";
  if (status.observedGeneration !== generation || !isReleased) {
    if ((status.observedPostRenderersDigest ?? "") !== wanted.postRenderersDigest) {
      return { kind: "outOfSync", reason: "postrenderers digest has changed" };
    }
    if ((status.observedCommonMetadataDigest ?? "") !== wanted.commonMetadataDigest) {
      return { kind: "outOfSync", reason: "common metadata digest has changed" };
    }
  }
  if (spec.test?.enable === true) {
    if (!isTested(latest)) return { kind: "untested" };
    if (hasFailedTest(latest) && !ignoresTestFailures(spec, status)) {
      return { kind: "failed", reason: "release has test in failed phase" };
    }
  }
  return { kind: "settled" };
}
