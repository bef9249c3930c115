import { effectivePatches } from "../api/kustomization.ts";
import type { KustomizationSpec } from "../api/kustomization-spec.ts";

/** The fields of a Kustomization's spec that decide what its folder builds to. */
export type BuildSpec = Pick<
  KustomizationSpec,
  | "path"
  | "targetNamespace"
  | "namePrefix"
  | "nameSuffix"
  | "patches"
  | "images"
  | "components"
  | "ignoreMissingComponents"
  | "buildMetadata"
  | "commonMetadata"
>;

export type SpecImage = NonNullable<BuildSpec["images"]>[number];

/**
 * What a Kustomization's spec says about its build, with the patches of former API versions among the patches. Two specs that
 * differ in other fields only, as in the interval, give equal results. Pure.
 */
export function buildSpec(spec: KustomizationSpec): BuildSpec {
  const { path, targetNamespace, namePrefix, nameSuffix, images, commonMetadata } = spec;
  const { components, ignoreMissingComponents, buildMetadata } = spec;
  const patches = [...effectivePatches(spec)];
  return {
    ...(path !== undefined && { path }),
    ...(targetNamespace !== undefined && { targetNamespace }),
    ...(namePrefix !== undefined && { namePrefix }),
    ...(nameSuffix !== undefined && { nameSuffix }),
    ...(patches.length > 0 && { patches }),
    ...(images !== undefined && { images }),
    ...(components !== undefined && { components }),
    ...(ignoreMissingComponents !== undefined && { ignoreMissingComponents }),
    ...(buildMetadata !== undefined && { buildMetadata }),
    ...(commonMetadata !== undefined && { commonMetadata }),
  };
}
