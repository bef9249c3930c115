import { effectivePatches, type Kustomization } from "../api/kustomization.ts";
import type { KustomizationSpec } from "../api/kustomization-spec.ts";
import type { Digest } from "../core/digest.ts";
import type { Tenant } from "../core/fair-turns.ts";
import type { Decryption } from "./decrypt/decryption.ts";

/** The Kustomization that owns the manifests. */
export interface Owner {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
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

/** Everything that a build depends on: equal owner, artifact, spec and inputs build to equal manifests. */
export interface BuildInput {
  readonly owner: Owner;
  readonly artifact: Digest;
  /** Fetches the artifact, a tar.gz whose digest is verified. Not called if the build is cached. */
  readonly archive: () => Promise<Uint8Array | undefined>;
  readonly spec: BuildSpec;
  /** What is substituted in the built objects; undefined for nothing. */
  readonly postBuild?: PostBuild | undefined;
  /** What decrypts the files and the built objects; undefined if they are taken as they are. */
  readonly decryption?: Decryption | undefined;
  /** Whose turn a build by the engine takes; undefined: one of nobody's. The result does not depend on it. */
  readonly tenant?: Tenant | undefined;
}

/**
 * The input for building a Kustomization's folder in an artifact. Its own run and the runs of siblings that need to know its
 * manifests both start here, so that they cannot build different ones.
 */
export function buildInput(
  { metadata: { uid, name, namespace = "" }, spec }: Kustomization,
  artifact: Digest,
  archive: BuildInput["archive"],
  { postBuild, decryption, tenant }: Pick<BuildInput, "postBuild" | "decryption" | "tenant">,
): BuildInput {
  return { owner: { uid, name, namespace }, artifact, archive, spec: buildSpec(spec), postBuild, decryption, tenant };
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
