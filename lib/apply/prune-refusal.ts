import { kustomizeGroup } from "../api/names.ts";
import { type ObjectRef, subject } from "../core/object-ref.ts";
import { someOf } from "../core/some-of.ts";

/** An object that is still wanted; `owner` is whose it is, as `Kustomization/namespace/name`, where it is not our own. */
export interface Wanted {
  readonly ref: ObjectRef;
  readonly owner?: string;
}

/** Why a namespace or definition may not be pruned, and what to do about it. Pure. */
export function pruneRefusal(ref: ObjectRef, wanted: readonly Wanted[]): string {
  const names = wanted.map(({ ref: each, owner }) => {
    return owner === undefined ? subject(each) : `${subject(each)} of ${owner}`;
  });
  return (
    `${subject(ref)} prune refused: it would take along what is still wanted: ${someOf(names)}; ` +
    `put it back, take that out too, or annotate it with ${kustomizeGroup}/prune: disabled to keep it`
  );
}
