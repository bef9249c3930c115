import type { Digest } from "../../core/digest.ts";

/**
 * Where an artifact lies in a bucket. Every key has the same length, so none is a folder of another: some stores cannot hold
 * both `p` and `p/q`.
 */
export function artifactKey(prefix: string, digest: Digest): string {
  const hex = digest.slice("sha256:".length);
  return `${prefix}sha256/${hex.slice(0, 2)}/${hex.slice(2)}`;
}
