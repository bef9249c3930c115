import { Digest } from "../../core/digest.ts";

/** What the keys of an installation's artifacts begin with. */
export const artifactPrefix = "artifacts/";
/** The key of what one collection of artifacts keeps for the next. */
export const unnamedKey = "collector/unnamed";

/**
 * The key of an artifact in a bucket. All keys have the same length, so none is a folder of another: some stores cannot hold both
 * `p` and `p/q`.
 */
export function artifactKey(prefix: string, digest: Digest): string {
  const hex = digest.slice("sha256:".length);
  return `${prefix}sha256/${hex.slice(0, 2)}/${hex.slice(2)}`;
}

/** The digest that {@link artifactKey} has made this key of; undefined for a key of something else. */
export function digestOfKey(prefix: string, key: string): Digest | undefined {
  const [, start = "", rest = ""] = /^sha256\/([0-9a-f]{2})\/([0-9a-f]{62})$/.exec(key.slice(prefix.length)) ?? [];
  return key.startsWith(prefix) ? Digest.safeParse(`sha256:${start}${rest}`).data : undefined;
}
