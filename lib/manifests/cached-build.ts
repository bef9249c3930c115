import { canonicalJson } from "../core/canonical-json.ts";
import { type BuildDeps, type Built, buildManifests } from "./build.ts";
import type { BuildInput } from "./build-input.ts";

const defaultMaxBytes = 32 * 1024 * 1024;

/**
 * {@link buildManifests} that remembers what it built last, by everything in the input: a build depends on nothing else.
 * Only in memory, since manifests may hold secrets, and up to so many bytes of manifests, the longest unused forgotten first.
 * Answers undefined where the artifact is not there.
 */
export function cachedBuild(
  deps: BuildDeps,
  maxBytes: number = defaultMaxBytes,
): (input: BuildInput, signal: AbortSignal) => Promise<Built | undefined> {
  const remembered = new Map<string, Built>();
  let bytes = 0;
  const forget = (key: string): void => {
    bytes -= remembered.get(key)?.bytes ?? 0;
    remembered.delete(key);
  };
  return async ({ archive, ...input }, signal) => {
    const { artifact, spec, owner, inputs } = input;
    const key = canonicalJson([owner.uid, artifact, spec, inputs]);
    let built = remembered.get(key);
    if (built === undefined) {
      const fetched = await archive();
      if (fetched === undefined) return undefined;
      built = await buildManifests(fetched, input, deps, signal);
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
