import { canonicalJson } from "../core/canonical-json.ts";
import type { Digest } from "../core/digest.ts";
import { type BuildDeps, type BuildInput, type Built, buildManifests } from "./build.ts";

const defaultMaxBytes = 32 * 1024 * 1024;

interface CachedBuildInput extends Omit<BuildInput, "archive"> {
  readonly artifact: Digest;
  /** Fetches the artifact, verified; called only where it was not built before. */
  readonly archive: () => Promise<BuildInput["archive"] | undefined>;
}

/**
 * {@link buildManifests} that remembers what it built last, by artifact, spec and owner: a build depends on nothing else.
 * Only in memory, since manifests may hold secrets, and up to so many bytes of manifests, the longest unused forgotten first.
 * Answers undefined where the artifact is not there.
 */
export function cachedBuild(
  deps: BuildDeps,
  maxBytes: number = defaultMaxBytes,
): (input: CachedBuildInput, signal: AbortSignal) => Promise<Built | undefined> {
  const remembered = new Map<string, Built>();
  let bytes = 0;
  const forget = (key: string): void => {
    bytes -= remembered.get(key)?.bytes ?? 0;
    remembered.delete(key);
  };
  return async ({ artifact, archive, spec, owner }, signal) => {
    // Callers hand over more of the owner than these two, and that differs from run to run.
    const { name, namespace } = owner;
    const key = `${artifact} ${canonicalJson([spec, name, namespace])}`;
    let built = remembered.get(key);
    if (built === undefined) {
      const fetched = await archive();
      if (fetched === undefined) return undefined;
      built = await buildManifests({ archive: fetched, spec, owner }, deps, signal);
    }
    forget(key);
    remembered.set(key, built);
    bytes += built.bytes;
    for (const oldest of remembered.keys()) {
      if (bytes <= maxBytes) break;
      forget(oldest);
    }
    return built;
  };
}
