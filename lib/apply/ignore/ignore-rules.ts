import { keyedDigest } from "../../core/digest.ts";
import { canonicalJson } from "../../core/json.ts";
import type { Manifest } from "../../core/manifest.ts";
import type { Secret } from "../../core/secret.ts";

/** Fields of a target that are regular expressions. */
export const patterns = ["group", "version", "kind", "name", "namespace"] as const;

/** A rule as `spec.ignore` has it. */
export interface IgnoreRule {
  readonly paths: readonly string[];
  readonly target?: {
    readonly [Field in (typeof patterns)[number] | "annotationSelector" | "labelSelector"]?: string;
  };
}

/** The properties of an object that decide which rules apply to it. */
export type Selected = Pick<Manifest, "apiVersion" | "kind" | "metadata">;

/** Which fields of which objects an apply ignores. */
export interface IgnoreRules {
  /** The JSON pointers that are ignored in this object, sorted, each once. */
  pathsFor(object: Selected): readonly string[];
  /**
   * Matches the names of many objects ahead, and lets other tasks run meanwhile.
   *
   * @throws Failure `ReconciliationFailed` if that takes too long
   */
  prepare(objects: Iterable<Selected>, signal: AbortSignal): Promise<void>;
}

export const noIgnoreRules: IgnoreRules = { pathsFor: () => [], prepare: async () => {} };

/** The digest under which an object counts as unchanged: of the wanted object and its ignored fields. */
export function proofDigest({ digest }: { readonly digest: string }, ignored: readonly string[], key: Secret): string {
  return ignored.length === 0 ? digest : keyedDigest(key, canonicalJson([digest, ...ignored]));
}
