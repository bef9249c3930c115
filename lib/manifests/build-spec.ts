import { effectivePatches } from "../api/kustomization.ts";
import type { KustomizationSpec } from "../api/kustomization-spec.ts";

/** The Kustomization that owns the manifests. */
export interface Owner {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

/** The fields of a Kustomization's spec that the build depends on. */
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
 * The build's part of a spec, with the patches of former API versions among the patches. Two specs that differ only in other
 * fields, such as the interval, give equal results. Pure.
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

/** What `spec.postBuild` brings into a build, from elsewhere too: variables, or why they could not be read. */
export interface PostBuild {
  readonly variables: ReadonlyMap<string, string>;
  /** Values among them that come from Secrets: no text shows them. */
  readonly secrets: readonly string[];
  /** Variables whose value in a Secret is not UTF-8: they fail each object that has one. */
  readonly notText?: ReadonlySet<string>;
  /** Whether objects are substituted even if there is no variable. */
  readonly always: boolean;
  /** Whether a variable that is not there fails the build; without it the value is empty (gate `StrictPostBuildSubstitutions`). */
  readonly strict: boolean;
  /** Why the variables could not be read: it fails the first object that needs them. */
  readonly fault?: string;
}
