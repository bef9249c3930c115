import { canonicalJson } from "../core/canonical-json.ts";
import { digestOf } from "../core/digest.ts";
import { type BuildDeps, type BuildInput, type Built, buildManifests } from "./build.ts";

const defaultMaxBytes = 32 * 1024 * 1024;

/**
 * {@link buildManifests} that remembers what it built last, by artifact, spec and owner: a build depends on nothing else.
 * Only in memory, since manifests may hold secrets, and up to so many bytes of manifests, the longest unused forgotten first.
 */
export function cachedBuild(
  deps: BuildDeps,
  maxBytes: number = defaultMaxBytes,
): (input: BuildInput, signal: AbortSignal) => Promise<Built> {
  const remembered = new Map<string, Built>();
  let bytes = 0;
  const forget = (key: string): void => {
    bytes -= remembered.get(key)?.bytes ?? 0;
    remembered.delete(key);
  };
  return async (input, signal) => {
    // Callers hand over more of the owner than these two, and that differs from run to run.
    const { name, namespace } = input.owner;
    const key = `${digestOf(input.archive)} ${canonicalJson([input.spec, name, namespace])}`;
    const built = remembered.get(key) ?? (await buildManifests(input, deps, signal));
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
