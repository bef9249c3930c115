import { someOf } from "../core/cut-text.ts";
import { isJsonObject } from "../core/json.ts";
import type { Manifest, Metadata } from "../core/manifest.ts";
import { type ObjectRef, subject } from "../core/object-ref.ts";
import type { ApplyRules } from "./set/apply-rules.ts";

/**
 * The finalizers that block the deletion of an object that is still wanted. Undefined for an object that is not being deleted, that is
 * opted out, or that deletes itself once it has finished ({@link mayVanish}). Pure.
 */
export function blockingFinalizers(
  wanted: Manifest,
  live: Metadata,
  { style }: Pick<ApplyRules, "style">,
): readonly string[] | undefined {
  if (live.deletionTimestamp === undefined || mayVanish(wanted)) return undefined;
  const { isUnmanaged } = style.optOuts;
  if (isUnmanaged(wanted.metadata) || isUnmanaged(live)) return undefined;
  return live.finalizers ?? [];
}

/** Whether the cluster deletes the object once it has finished: a Job with `spec.ttlSecondsAfterFinished` (reference 3.17). */
export function mayVanish({ kind, ...manifest }: Manifest): boolean {
  const spec: unknown = manifest["spec"];
  return kind === "Job" && isJsonObject(spec) && spec["ttlSecondsAfterFinished"] !== undefined;
}

/** The part of an applied object that shows whether it is being deleted. */
interface MaybeTerminating {
  readonly desired: { readonly ref: ObjectRef };
  readonly blockingFinalizers?: readonly string[] | undefined;
}

/** Names the applied objects that are being deleted and their blocking finalizers; undefined if there are none. Pure. */
export function terminatingText(applied: readonly MaybeTerminating[]): string | undefined {
  const names = applied.flatMap(({ desired: { ref }, blockingFinalizers: finalizers }) => {
    if (finalizers === undefined) return [];
    return [finalizers.length === 0 ? subject(ref) : `${subject(ref)} (held by ${finalizers.join(", ")})`];
  });
  if (names.length === 0) return undefined;
  return `still wanted but being deleted, to be created again once gone: ${someOf(names)}`;
}
