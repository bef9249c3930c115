import { parseDuration } from "../core/duration.ts";
import { Failure } from "../core/failure.ts";
import type { LiveObject, Metadata } from "../core/manifest.ts";
import { minIntervalMs } from "./fields.ts";
import { KustomizationSpec } from "./kustomization-spec.ts";
import { KustomizationStatus } from "./kustomization-status.ts";
import { invalid, parseLive } from "./parse-live.ts";
import type { Patch } from "./patch.ts";
import { overLimits } from "./spec-limits.ts";
import { withoutEmptyNamespaces } from "./spec-references.ts";

export interface Kustomization {
  readonly metadata: Metadata & { readonly uid: string };
  readonly spec: KustomizationSpec;
  readonly status: KustomizationStatus;
}

export type DeletionPolicy = NonNullable<KustomizationSpec["deletionPolicy"]>;

/** A live Kustomization of any served version. Throws a `Failure` `InvalidSpec` naming the object and its bad fields. */
export function parseKustomization(live: LiveObject): Kustomization {
  const spec = parseLive(live, "spec", KustomizationSpec);
  const tooMuch = overLimits(spec);
  if (tooMuch.length > 0) throw invalid(live, "spec", tooMuch);
  return {
    metadata: live.metadata,
    spec: withoutEmptyNamespaces(spec),
    status: parseLive(live, "status", KustomizationStatus),
  };
}

/** As {@link parseKustomization}; undefined where the object cannot be read, as one that does nothing until it is mended. */
export function readKustomization(live: LiveObject): Kustomization | undefined {
  try {
    return parseKustomization(live);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/** The fields that decide what the end of a Kustomization deletes, where, and what it keeps for siblings. */
const EndSpec = KustomizationSpec.pick({
  prune: true,
  deletionPolicy: true,
  suspend: true,
  sourceRef: true,
  kubeConfig: true,
  serviceAccountName: true,
  serviceAccount: true,
});
const TimesOfEnd = KustomizationSpec.pick({ interval: true, timeout: true });

/**
 * What the end of a Kustomization needs of an object whose spec cannot be read, with defaults for the rest: so a bad field that
 * does not matter at the end does not hold up the deletion. Undefined where a field that does matter, or the status, cannot be
 * read.
 */
export function readForEnd(live: LiveObject): Kustomization | undefined {
  const spec = EndSpec.safeParse(live["spec"] ?? {}).data;
  const status = KustomizationStatus.safeParse(live["status"] ?? {}).data;
  if (spec === undefined || status === undefined) return undefined;
  const { interval, timeout } = TimesOfEnd.safeParse(live["spec"] ?? {}).data ?? { interval: "1h" };
  const times = timeout === undefined ? { interval } : { interval, timeout };
  return { metadata: live.metadata, spec: withoutEmptyNamespaces({ ...spec, ...times, force: false }), status };
}

export const minTimeoutMs = 30_000;

/** How long health checks and a waiting deletion may take: `timeout`, else the interval less 30 s, never under 30 s. */
export function effectiveTimeoutMs({ timeout, interval }: Pick<KustomizationSpec, "timeout" | "interval">): number {
  const wantedMs = timeout === undefined ? parseDuration(interval) - minTimeoutMs : parseDuration(timeout);
  return Math.max(wantedMs, minTimeoutMs);
}

/**
 * After how long a failed run is repeated: `retryInterval`, else the interval; at least {@link minIntervalMs}. Undefined
 * where that is 0: then retries only back off.
 */
export function retryIntervalMs({
  retryInterval,
  interval,
}: Pick<KustomizationSpec, "retryInterval" | "interval">): number | undefined {
  const wantedMs = parseDuration(retryInterval ?? interval);
  return wantedMs === 0 ? undefined : Math.max(minIntervalMs, wantedMs);
}

export function deletionPolicy({ deletionPolicy: policy }: Pick<KustomizationSpec, "deletionPolicy">): DeletionPolicy {
  return policy ?? "MirrorPrune";
}

/**
 * Every patch to apply, those of the former fields `patchesStrategicMerge` and `patchesJson6902` written as v1 would have
 * them, in the order in which kustomize applies the three.
 */
export function effectivePatches({
  patches = [],
  patchesStrategicMerge = [],
  patchesJson6902 = [],
}: Pick<KustomizationSpec, "patches" | "patchesStrategicMerge" | "patchesJson6902">): readonly Patch[] {
  return [
    // An inline object, or YAML text that holds one: API versions before v1 took both.
    ...patchesStrategicMerge.map((patch) => ({ patch: typeof patch === "string" ? patch : JSON.stringify(patch) })),
    ...patches,
    ...patchesJson6902.map(({ patch, target }) => ({ patch: JSON.stringify(patch), target })),
  ];
}
