import { kustomizeGroup } from "../api/names.ts";
import { type ObjectRef, subject } from "../core/object-ref.ts";
import { someOf } from "../core/some-of.ts";

/** An object that is to stay. */
export interface Wanted {
  readonly ref: ObjectRef;
  /** Whose it is, as `Kustomization/namespace/name`, where it is not our own. */
  readonly owner?: string | undefined;
  /** What keeps it from being pruned, where the artifact does not want it. */
  readonly why?: string | undefined;
}

/** Why a namespace or definition may not be pruned, and what to do about it. Pure. */
export function pruneRefusal(ref: ObjectRef, wanted: readonly Wanted[]): string {
  const names = wanted.map(({ ref: each, owner, why }) => {
    return `${subject(each)}${owner === undefined ? "" : ` of ${owner}`}${why === undefined ? "" : ` (${why})`}`;
  });
  return (
    `${subject(ref)} prune refused: it would take along what is still wanted: ${someOf(names)}; ` +
    `put it back, take that out too, or annotate it with ${kustomizeGroup}/prune: disabled to keep it`
  );
}
