import { type Digest, digestOf } from "../../core/digest.ts";
import { Failure } from "../../core/failure.ts";
import { canonicalJson } from "../../core/json.ts";
import type { Engine } from "../../core/ports/engine.ts";
import { inTurnsOf } from "../../threads/thread-job.ts";
import type { PostBuild } from "../build-spec.ts";
import { type Decryption, openDecryption } from "../decrypt/decryption.ts";
import type { BuildDeps, Built } from "./build.ts";
import type { EncryptedBuild } from "./build-encrypted.ts";
import type { BuildInput } from "./build-input.ts";

/** Of the manifests of builds that are remembered. */
export const rememberedBuildBytes = 32 * 1024 * 1024;

/** A build that contains no decrypted value. */
type KeptEncrypted = EncryptedBuild & Pick<Built, "bytes">;

/**
 * `buildManifests` with a cache whose key is the whole input, since a build depends on nothing else. The cache is only in
 * memory, since manifests may hold secrets. It holds up to `maxBytes` of manifests and drops the least recently used first.
 * Answers undefined if the artifact does not exist.
 *
 * What was decrypted is not cached: with decryption the build is cached as it was before its objects were decrypted, and not at
 * all if files were decrypted for it.
 */
export function cachedBuild(
  deps: BuildDeps,
  maxBytes: number = rememberedBuildBytes,
): (input: BuildInput, signal: AbortSignal) => Promise<Built | undefined> {
  const cache = leastRecentlyUsed(maxBytes);
  const built = async (
    { archive, ...input }: Omit<BuildInput, "tenant">,
    asked: BuildDeps,
    signal: AbortSignal,
  ): Promise<Built | undefined> => {
    const { artifact, spec, owner, postBuild, decryption } = input;
    if (decryption === undefined) {
      const key = canonicalJson([owner.uid, artifact, spec, inputsDigest(postBuild)]);
      const known = cache.get(key);
      if (known !== undefined && "manifests" in known) return known;
      const fetched = await archive();
      if (fetched === undefined) return undefined;
      // Loaded when it is needed: many runs after a cold start build nothing.
      const { buildManifests } = await import("./build.ts");
      return cache.keep(key, await buildManifests(fetched, input, asked, signal));
    }
    const key = canonicalJson(["encrypted", owner.uid, artifact, spec]);
    const known = cache.get(key);
    if (known !== undefined && "sealed" in known) {
      const finished = await finishKnown(known, { ...input, decryption }, signal);
      if (finished !== undefined) return finished;
      cache.drop(key);
    }
    const fetched = await archive();
    if (fetched === undefined) return undefined;
    const { buildEncrypted } = await import("./build-encrypted.ts");
    const { built: whole, encrypted } = await buildEncrypted(fetched, { ...input, decryption }, asked, signal);
    // A build for names uses files that could not be decrypted as they are, so other callers must not use it as the manifests.
    if (encrypted !== undefined && !decryption.namesOnly) cache.keep(key, keptEncrypted(encrypted));
    return whole;
  };
  return ({ tenant, ...input }, signal) =>
    inTurnsOf(tenant, () => built(input, { ...deps, engine: engineFor(tenant, deps.engine) }, signal));
}

function engineFor(tenant: BuildInput["tenant"], engine: Engine): Engine {
  return { build: (input, limits, signal) => engine.build({ ...input, tenant }, limits, signal) };
}

/** Undefined if it fails: a message about the whole build says more, since it knows all files of the artifact. */
async function finishKnown(
  known: KeptEncrypted,
  { decryption, ...input }: Omit<BuildInput, "archive" | "decryption"> & { readonly decryption: Decryption },
  signal: AbortSignal,
): Promise<Built | undefined> {
  const decrypter = await openDecryption(decryption);
  const { finishEncrypted } = await import("./build-encrypted.ts");
  try {
    return await finishEncrypted(known, { tree: { files: new Map() }, values: [] }, input, decrypter, signal);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

function keptEncrypted(encrypted: EncryptedBuild): KeptEncrypted {
  const files = [...encrypted.sealed.values()].flat();
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, encrypted.output.text.length);
  return { ...encrypted, bytes };
}

/** Never stored: it would allow to check a guess at a value. */
function inputsDigest(postBuild: PostBuild | undefined): Digest | null {
  if (postBuild === undefined) return null;
  const { variables, notText = [], always, strict, fault = "" } = postBuild;
  return digestOf(canonicalJson([Object.fromEntries(variables), [...notText], always, strict, fault]));
}

function leastRecentlyUsed(maxBytes: number) {
  const entries = new Map<string, Built | KeptEncrypted>();
  let bytes = 0;
  const drop = (key: string): void => {
    bytes -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  };
  const keep = <Entry extends Built | KeptEncrypted>(key: string, entry: Entry): Entry => {
    // Deleted and set again, so that the keys stay in the order of their last use.
    drop(key);
    entries.set(key, entry);
    bytes += entry.bytes;
    for (const oldest of entries.keys()) {
      if (bytes <= maxBytes) break;
      drop(oldest);
    }
    return entry;
  };
  return {
    get: (key: string) => {
      const entry = entries.get(key);
      return entry && keep(key, entry);
    },
    keep,
    drop,
  };
}
