import { Digest } from "../../core/digest.ts";

/** The prefix of an installation's artifacts. */
export const artifactPrefix = "artifacts/";
/** The key of the record that one collection of artifacts leaves for the next. */
export const unnamedKey = "collector/unnamed";

/**
 * The key of an artifact in a bucket. All keys have the same length, so that none is a folder of another: some stores cannot hold both `p`
 * and `p/q`.
 */
export function artifactKey(prefix: string, digest: Digest): string {
  const hex = digest.slice("sha256:".length);
  return `${prefix}sha256/${hex.slice(0, 2)}/${hex.slice(2)}`;
}

/** The digest in a key that {@link artifactKey} has made; undefined for any other key. */
export function digestOfKey(prefix: string, key: string): Digest | undefined {
  const [, start = "", rest = ""] = /^sha256\/([0-9a-f]{2})\/([0-9a-f]{62})$/.exec(key.slice(prefix.length)) ?? [];
  return key.startsWith(prefix) ? Digest.safeParse(`sha256:${start}${rest}`).data : undefined;
}
