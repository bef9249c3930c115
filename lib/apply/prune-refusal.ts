import { kustomizeGroup } from "../api/names.ts";
import { type ObjectRef, subject } from "../core/object-ref.ts";

/** An object that is still wanted; `owner` is whose it is, as `Kustomization/namespace/name`, where it is not our own. */
export interface Wanted {
  readonly ref: ObjectRef;
  readonly owner?: string;
}

/** More than this many objects are counted, not named. */
const maxNamed = 3;

/** Why a namespace or definition may not be pruned, and what to do about it. Pure. */
export function pruneRefusal(ref: ObjectRef, wanted: readonly Wanted[]): string {
  const named = wanted.slice(0, maxNamed).map(({ ref: each, owner }) => {
    return owner === undefined ? subject(each) : `${subject(each)} of ${owner}`;
  });
  const more = wanted.length > maxNamed ? ` and ${wanted.length - maxNamed} more` : "";
  return (
    `${subject(ref)} prune refused: it would take along what is still wanted: ${named.join(", ")}${more}; ` +
    `put it back, take that out too, or annotate it with ${kustomizeGroup}/prune: disabled to keep it`
  );
}
