import { subject } from "../core/object-ref.ts";
import { someOf } from "../core/some-of.ts";
import type { AppliedObject } from "./apply-object.ts";

/** What is waited for where some of what was applied is being deleted; undefined where none is. Pure. */
export function terminatingText(applied: readonly AppliedObject[]): string | undefined {
  const names = applied.flatMap(({ desired: { ref }, heldBy: finalizers }) => {
    if (finalizers === undefined) return [];
    return [finalizers.length === 0 ? subject(ref) : `${subject(ref)} (held by ${finalizers.join(", ")})`];
  });
  if (names.length === 0) return undefined;
  return `still wanted but being deleted, to be created anew once gone: ${someOf(names)}`;
}
