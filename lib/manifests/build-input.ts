import type { Kustomization } from "../api/kustomization.ts";
import { type Digest, digestOf } from "../core/digest.ts";
import { type BuildSpec, buildSpec } from "./build-spec.ts";

/** Whose manifests these are: the Kustomization. */
export interface Owner {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

/** Everything that the result of a build depends on. Equal owner, artifact, spec and inputs build to equal manifests. */
export interface BuildInput {
  readonly owner: Owner;
  readonly artifact: Digest;
  /** Fetches the artifact, a tar.gz whose digest is verified. Not called where the result is known. */
  readonly archive: () => Promise<Uint8Array | undefined>;
  readonly spec: BuildSpec;
  /**
   * Over what is put into the manifests from elsewhere: values to substitute, keys to decrypt with. Such a digest is a part of
   * the key in memory only, and is stored nowhere, since values could be guessed from it.
   */
  readonly inputs: Digest;
}

/** Nothing is put into the manifests from elsewhere yet: `postBuild` and `decryption` are refused by name. */
const noInputs = digestOf("");

/**
 * The build of a Kustomization's folder in an artifact. Its own run and the runs of others that have to know what it is about
 * to have both start from here, so that they cannot come to different manifests.
 */
export function buildInput(
  { metadata: { uid, name, namespace = "" }, spec }: Kustomization,
  artifact: Digest,
  archive: BuildInput["archive"],
): BuildInput {
  return { owner: { uid, name, namespace }, artifact, archive, spec: buildSpec(spec), inputs: noInputs };
}
