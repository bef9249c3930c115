import type { ObservedKind } from "../lib/queue/observed-kinds.ts";
import { type Presence, presence } from "./presence.ts";
import { type WatchDeps, watchResources } from "./watch-resources.ts";

/**
 * {@link watchResources} of each of the kinds, until `signal` is aborted. Kinds that matter only along with objects of another kind
 * are watched only while there are such objects.
 */
export function watchKinds(
  kinds: readonly ObservedKind[],
  deps: WatchDeps,
  signal: AbortSignal,
): readonly Promise<void>[] {
  const presences = new Map<string, Presence>();
  const presenceOf = ({ group, kind }: Pick<ObservedKind, "group" | "kind">): Presence => {
    const known = presences.get(`${group}/${kind}`) ?? presence();
    presences.set(`${group}/${kind}`, known);
    return known;
  };
  for (const { beside } of kinds) if (beside !== undefined) presenceOf(beside);
  return kinds.map((kind) => {
    if (kind.beside !== undefined) return watchBeside(kind, presenceOf(kind.beside), deps, signal);
    const shows = presences.get(`${kind.group}/${kind.kind}`);
    return watchResources(kind, shows === undefined ? deps : { ...deps, shows }, signal);
  });
}

async function watchBeside(kind: ObservedKind, near: Presence, deps: WatchDeps, signal: AbortSignal): Promise<void> {
  const isStopped = (): boolean => signal.aborted;
  while (!isStopped()) {
    await near.until("some", signal);
    const over = new AbortController();
    const watching = watchResources(kind, { ...deps, near }, AbortSignal.any([signal, over.signal]));
    await near.until("none", signal);
    over.abort(new Error("there is nothing to watch it for"));
    await watching;
  }
}
