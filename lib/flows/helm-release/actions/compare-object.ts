import { dryRunMessage } from "../../../apply/refusals.ts";
import type { IgnoreRules } from "../../../apply/ignore/ignore-rules.ts";
import { withoutIgnored } from "../../../apply/ignored-fields.ts";
import { isJsonObject, type JsonObject, toJsonObject } from "../../../core/json.ts";
import type { LiveObject, Metadata } from "../../../core/manifest.ts";
import { ApiError } from "../../../core/ports/cluster.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";
import { isPassing, releaseManager } from "./hook-object.ts";
import { type JsonOperation, jsonDiff } from "./json-diff.ts";
import type { ReleaseObject } from "./release-objects.ts";
import type { SeenObject } from "./seen-objects.ts";

/** How an object in the cluster differs from the stored manifest (reference helmrelease 18). */
export type Comparison =
  | { readonly kind: "same" }
  | { readonly kind: "excluded" }
  | { readonly kind: "missing" }
  | { readonly kind: "changed"; readonly patch: readonly JsonOperation[] }
  /** It cannot be compared. */
  | { readonly kind: "unknown"; readonly message: string };

/**
 * Compares one object by a dry run of its apply, unless it is proven unchanged; writes nothing.
 *
 * @param seen what a list of metadata says of it
 * @throws ApiError where the API server could not judge it
 */
export async function compareObject(
  { manifest, ref, resource }: ReleaseObject,
  seen: SeenObject | undefined,
  ignore: IgnoreRules,
  { target }: HelmReleaseContext,
  signal: AbortSignal,
): Promise<Comparison> {
  if (resource === undefined) {
    const message = `failed to determine if ${ref.kind} is namespace scoped: no matches for kind "${ref.kind}"`;
    return { kind: "unknown", message: `${message} in version "${manifest.apiVersion}"` };
  }
  const ignored = ignore.pathsFor(manifest);
  if (isExcluded(manifest.metadata) || ignored.includes("")) return { kind: "excluded" };
  if (seen !== undefined && isExcluded(seen.metadata)) return { kind: "excluded" };
  if (seen?.isProven === true) return { kind: "same" };
  try {
    const live = await target.get(ref, signal);
    if (live !== undefined && isExcluded(live.metadata)) return { kind: "excluded" };
    const options = { manager: releaseManager, force: true, dryRun: true } as const;
    const { created, object } = await target.apply(manifest, options, signal);
    if (live === undefined || created) return { kind: "missing" };
    const patch = changesOf(live, object, ignored);
    return patch.length === 0 ? { kind: "same" } : { kind: "changed", patch };
  } catch (error) {
    if (!(error instanceof ApiError) || isPassing(error)) throw error;
    return { kind: "unknown", message: dryRunMessage({ ref }, error) };
  }
}

const exclusion = "helm.toolkit.fluxcd.io/driftDetection";

/** By a label or an annotation, in any case of letters. */
function isExcluded({ labels, annotations }: Pick<Metadata, "annotations" | "labels">): boolean {
  return [labels, annotations].some((marks) => marks?.[exclusion]?.toLowerCase() === "disabled");
}

/** For labels and annotations only a missing or different value counts: other writers may add more. */
function changesOf(live: LiveObject, wanted: LiveObject, ignored: readonly string[]): readonly JsonOperation[] {
  const [from, to] = [live, wanted].map((object) => {
    return ignored.length === 0 ? toJsonObject(object) : withoutIgnored(object, ignored);
  });
  if (from === undefined || to === undefined) return [];
  const ofMetadata = jsonDiff(marksOf(from), marksOf(to)).filter(({ op }) => op !== "remove");
  return [...ofMetadata, ...jsonDiff(contentOf(from), contentOf(to))];
}

function marksOf({ metadata }: JsonObject): JsonObject {
  const { name, annotations, labels } = isJsonObject(metadata) ? metadata : {};
  return {
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(labels === undefined ? {} : { labels }),
    },
  };
}

function contentOf({ metadata: _metadata, status: _status, ...content }: JsonObject): JsonObject {
  return content;
}
