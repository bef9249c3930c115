import { type ArtifactTree, artifactTree } from "../artifact-tree.ts";
import { decryptObjects, macsOf } from "../decrypt/decrypt-objects.ts";
import { type DecryptedSources, decryptSources } from "../decrypt/decrypt-sources.ts";
import { type Decrypter, type Decryption, openDecryption } from "../decrypt/decryption.ts";
import { type SealedFiles, sealedFiles } from "../decrypt/sealed-files.ts";
import type { BuildOutput } from "../rendered.ts";
import { type BuildDeps, type Built, build, builtFolder, finish, type ManifestInput, masked } from "./build.ts";

// Loaded only where something is to be decrypted, since a cold start has no time for it.

/** A build before its objects are decrypted. */
export interface EncryptedBuild {
  readonly output: BuildOutput;
  /** The files that the encrypted objects come from. */
  readonly sealed: SealedFiles;
}

/**
 * `buildManifests` with decryption.
 *
 * @returns `encrypted` if there is no plaintext in it: no file was decrypted for the build
 */
export async function buildEncrypted(
  archive: Uint8Array,
  { decryption, ...input }: ManifestInput & { readonly decryption: Decryption },
  deps: BuildDeps,
  signal: AbortSignal,
): Promise<{ readonly built: Built; readonly encrypted: EncryptedBuild | undefined }> {
  const { spec } = input;
  const tree = await artifactTree(archive, deps, signal);
  const folder = builtFolder(tree, spec);
  const decrypter = await openDecryption(decryption);
  const sources =
    decrypter === undefined
      ? { tree, values: [] }
      : await decryptSources(tree, folder, spec.components ?? [], decrypter, signal);
  const output = await masked(sources.values, () => build(sources.tree, folder, spec, deps, signal));
  if (sources.fault !== undefined) throw sources.fault;
  const encrypted = { output, sealed: await sealedFiles(tree, macsOf(output.objects), signal) };
  const built = await finishEncrypted(encrypted, sources, input, decrypter, signal);
  return { built, encrypted: sources.values.length === 0 ? encrypted : undefined };
}

/**
 * The last steps of {@link buildEncrypted}. Throws as it does.
 *
 * @param sources the artifact as it was built, and the values in it that no text shows
 * @param decrypter undefined if what is encrypted stays as it is
 */
export async function finishEncrypted(
  { output, sealed }: EncryptedBuild,
  { tree, values }: Sources,
  input: ManifestInput,
  decrypter: Decrypter | undefined,
  signal: AbortSignal,
): Promise<Built> {
  if (decrypter === undefined) return finish(output, tree, values, input, signal);
  const decrypted = await masked(values, () => decryptObjects(output, sealed, decrypter, signal));
  return finish(decrypted.output, tree, [...values, ...decrypted.values], input, signal);
}

type Sources = Pick<DecryptedSources, "values"> & { readonly tree: Pick<ArtifactTree, "files"> };
