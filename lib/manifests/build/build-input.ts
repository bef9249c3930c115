import type { Kustomization } from "../../api/kustomization.ts";
import type { Digest } from "../../core/digest.ts";
import type { Tenant } from "../../core/tenant.ts";
import { type BuildSpec, buildSpec, type Owner, type PostBuild } from "../build-spec.ts";
import type { Decryption } from "../decrypt/decryption.ts";

/** Everything that a build depends on: equal owner, artifact, spec and inputs build to equal manifests. */
export interface BuildInput {
  readonly owner: Owner;
  readonly artifact: Digest;
  /** Fetches the artifact, a tar.gz whose digest is verified. Not called if the build is cached. */
  readonly archive: () => Promise<Uint8Array | undefined>;
  readonly spec: BuildSpec;
  /** The substitutions in the built objects, if any. */
  readonly postBuild?: PostBuild | undefined;
  /** What decrypts the files and the built objects; undefined if they are taken as they are. */
  readonly decryption?: Decryption | undefined;
  /** A build by the engine or in a thread takes this tenant's turn. The result does not depend on it. */
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
