import type { LiveObject, Metadata } from "../core/manifest.ts";
import { overLimits } from "./field-marks.ts";
import { HelmReleaseFields, HelmReleaseSpec } from "./helm-release-spec.ts";
import { HelmReleaseStatus } from "./helm-release-status.ts";
import { invalid, parseLive } from "./parse-live.ts";
import { dependencyFaults, withoutEmptyDependencyNamespaces } from "./spec-references.ts";

export interface HelmRelease {
  readonly metadata: Metadata & { readonly uid: string };
  readonly spec: HelmReleaseSpec;
  readonly status: HelmReleaseStatus;
}

/**
 * A live HelmRelease. An empty namespace of a dependency counts as none, as in Flux. Throws a `Failure` `InvalidSpec` that names the object
 * and its invalid fields.
 */
export function parseHelmRelease(live: LiveObject): HelmRelease {
  const spec = parseLive(live, "spec", HelmReleaseSpec);
  const tooMuch = overLimits(HelmReleaseSpec, spec);
  const faults = tooMuch.length > 0 ? tooMuch : dependencyFaults("HelmRelease", spec.dependsOn ?? []);
  if (faults.length > 0) throw invalid(live, "spec", faults);
  const status = parseLive(live, "status", HelmReleaseStatus);
  return { metadata: live.metadata, spec: withoutEmptyDependencyNamespaces(spec), status };
}

/** The fields that decide about the end of a HelmRelease. */
const EndSpec = HelmReleaseFields.pick({
  suspend: true,
  releaseName: true,
  targetNamespace: true,
  storageNamespace: true,
  timeout: true,
  uninstall: true,
  serviceAccountName: true,
  kubeConfig: true,
});

/**
 * Reads the fields that a deletion needs from a HelmRelease with an invalid spec, so that an unrelated invalid field does not block the
 * deletion. Undefined if a field that it needs, or the status, is invalid.
 */
export function readReleaseForEnd(live: LiveObject): HelmRelease | undefined {
  const spec = EndSpec.safeParse(live["spec"] ?? {}).data;
  const status = HelmReleaseStatus.safeParse(live["status"] ?? {}).data;
  if (spec === undefined || status === undefined) return undefined;
  return { metadata: live.metadata, spec: { interval: "1h", ...spec }, status };
}
