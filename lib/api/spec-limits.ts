import type { KustomizationSpec } from "./kustomization-spec.ts";

/** Of `spec.patches` and its former fields together, and what these may have in bytes. */
export const maxPatches = 1_000;
export const maxPatchBytes = 1024 * 1024;
/** Each is held against every container of every object. */
export const maxImages = 1_000;
export const maxComponents = 1_000;
/** Of `commonMetadata`, labels and annotations each: they are written on every object. */
export const maxCommonMetadata = 1_000;
/** Each is read in every run. */
export const maxDependencies = 1_000;
/** Each is read again and again until it is healthy. */
export const maxHealthChecks = 5_000;
/** Of `spec.path`; no artifact has a longer one. */
export const maxPathLength = 4_096;

/** One amount of a spec, and how much of it there may be. */
interface Amount {
  readonly field: string;
  readonly unit: "items" | "bytes" | "characters";
  readonly max: number;
  readonly of: (spec: KustomizationSpec) => number;
}

/** An API server takes an object of about 1.5 MB, of which each of these could be the whole. */
const amounts: readonly Amount[] = [
  { field: "patches", unit: "items", max: maxPatches, of: (spec) => patchesOf(spec).length },
  {
    field: "patches",
    unit: "bytes",
    max: maxPatchBytes,
    of: (spec) => patchesOf(spec).reduce<number>((sum, patch) => sum + Buffer.byteLength(JSON.stringify(patch)), 0),
  },
  { field: "images", unit: "items", max: maxImages, of: ({ images = [] }) => images.length },
  { field: "components", unit: "items", max: maxComponents, of: ({ components = [] }) => components.length },
  {
    field: "commonMetadata.labels",
    unit: "items",
    max: maxCommonMetadata,
    of: ({ commonMetadata }) => Object.keys(commonMetadata?.labels ?? {}).length,
  },
  {
    field: "commonMetadata.annotations",
    unit: "items",
    max: maxCommonMetadata,
    of: ({ commonMetadata }) => Object.keys(commonMetadata?.annotations ?? {}).length,
  },
  { field: "dependsOn", unit: "items", max: maxDependencies, of: ({ dependsOn = [] }) => dependsOn.length },
  { field: "healthChecks", unit: "items", max: maxHealthChecks, of: ({ healthChecks = [] }) => healthChecks.length },
  { field: "path", unit: "characters", max: maxPathLength, of: ({ path = "" }) => path.length },
];

/** What a spec has more of than it may, one text a field: `spec.patches: has 1001 items, 1000 are allowed`. */
export function overLimits(spec: KustomizationSpec): readonly string[] {
  return amounts.flatMap(({ field, unit, max, of }) => {
    const found = of(spec);
    return found > max ? [`spec.${field}: has ${found} ${unit}, ${max} are allowed`] : [];
  });
}

function patchesOf({
  patches = [],
  patchesStrategicMerge = [],
  patchesJson6902 = [],
}: KustomizationSpec): readonly unknown[] {
  return [...patches, ...patchesStrategicMerge, ...patchesJson6902];
}
