import { parseDuration } from "../core/duration.ts";
import { Failure } from "../core/failure.ts";
import { formatJson } from "../core/json.ts";
import type { LiveObject, Metadata } from "../core/manifest.ts";
import { overLimits, unsupportedFields } from "./field-marks.ts";
import { minIntervalMs } from "./fields.ts";
import { KustomizationSpec } from "./kustomization-spec.ts";
import { KustomizationStatus } from "./kustomization-status.ts";
import { invalid, parseLive } from "./parse-live.ts";
import type { Patch } from "./patch.ts";
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
  const tooMuch = overLimits(KustomizationSpec, spec);
  if (tooMuch.length > 0) throw invalid(live, "spec", tooMuch);
  return {
    metadata: live.metadata,
    spec: withoutEmptyNamespaces(spec),
    status: parseLive(live, "status", KustomizationStatus),
  };
}

/** As {@link parseKustomization}; undefined if the object is invalid. Such an object does nothing until its spec is corrected. */
export function readKustomization(live: LiveObject): Kustomization | undefined {
  try {
    return parseKustomization(live);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/** The fields that decide what the deletion of a Kustomization deletes, in which cluster, and what it keeps for other owners. */
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
 * Reads the fields that a deletion needs from a Kustomization with an invalid spec, with defaults for the others, so that an unrelated
 * invalid field does not block the deletion. Undefined if a field that it needs, or the status, is invalid.
 */
export function readForEnd(live: LiveObject): Kustomization | undefined {
  const spec = EndSpec.safeParse(live["spec"] ?? {}).data;
  const status = KustomizationStatus.safeParse(live["status"] ?? {}).data;
  if (spec === undefined || status === undefined) return undefined;
  const { interval, timeout } = TimesOfEnd.safeParse(live["spec"] ?? {}).data ?? { interval: "1h" };
  const times = timeout === undefined ? { interval } : { interval, timeout };
  return { metadata: live.metadata, spec: withoutEmptyNamespaces({ ...spec, ...times, force: false }), status };
}

/** The kinds of source that can be read. */
type SourceKinds = readonly { readonly kind: string }[];

const sourceKindField = "spec.sourceRef.kind";

/** The unsupported fields that a spec uses, and `spec.sourceRef.kind` if it names another kind than these sources. */
export function unsupportedKustomizationFields(spec: KustomizationSpec, sources: SourceKinds): readonly string[] {
  const isReadable = sources.some(({ kind }) => kind === spec.sourceRef.kind);
  return [...(isReadable ? [] : [sourceKindField]), ...unsupportedFields(KustomizationSpec, spec)];
}

/** How a user can avoid {@link unsupportedKustomizationFields}; undefined if there is no way. A source cannot be removed. */
export function unsupportedText(spec: KustomizationSpec, sources: SourceKinds): string | undefined {
  const fields = unsupportedKustomizationFields(spec, sources);
  const removable = fields.filter((field) => field !== sourceKindField);
  const kinds = sources
    .map(({ kind }) => kind)
    .filter((kind) => kind !== "ExternalArtifact")
    .join(" or ");
  const texts = [
    ...(fields.length > removable.length
      ? [
          `${sourceKindField} ${spec.sourceRef.kind} not supported yet: use a source of kind ${kinds}, or leave this Kustomization to Flux until it is`,
        ]
      : []),
    ...(removable.length > 0
      ? [`${removable.join(", ")} not supported yet: remove it, or leave this Kustomization to Flux until it is`]
      : []),
  ];
  return texts.length > 0 ? texts.join("; ") : undefined;
}

export const minTimeoutMs = 30_000;

/** How long health checks and a waiting deletion may take: `timeout`, else the interval minus 30 s; at least 30 s. */
export function effectiveTimeoutMs({ timeout, interval }: Pick<KustomizationSpec, "timeout" | "interval">): number {
  const wantedMs = timeout === undefined ? parseDuration(interval) - minTimeoutMs : parseDuration(timeout);
  return Math.max(wantedMs, minTimeoutMs);
}

/**
 * When a failed run is repeated: after `retryInterval`, else after the interval; at least {@link minIntervalMs}. Undefined if that
 * is 0: then retries only back off.
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
 * All patches, in the order in which kustomize applies the three fields. The former fields `patchesStrategicMerge` and `patchesJson6902`
 * are converted to the form of v1.
 */
export function effectivePatches({
  patches = [],
  patchesStrategicMerge = [],
  patchesJson6902 = [],
}: Pick<KustomizationSpec, "patches" | "patchesStrategicMerge" | "patchesJson6902">): readonly Patch[] {
  return [
    // An inline object, or YAML text with one: API versions before v1 accepted both.
    ...patchesStrategicMerge.map((patch) => ({ patch: typeof patch === "string" ? patch : formatJson(patch) })),
    ...patches,
    ...patchesJson6902.map(({ patch, target }) => ({ patch: formatJson(patch), target })),
  ];
}
