import { type LiveObject, refOf } from "../core/manifest.ts";
import { ApiError } from "../core/ports/cluster.ts";
import type { HomeCluster } from "../core/ports/home-and-target.ts";
import { repeatOnConflict } from "../core/ports/repeat-on-conflict.ts";

/**
 * Changes an object's list of finalizers, under a precondition on the version that was read: another controller may change
 * it at the same time, and a merge patch replaces the list whole. An object that is gone needs no change.
 */
export async function writeFinalizers(
  live: LiveObject,
  change: (finalizers: readonly string[]) => readonly string[],
  { home, manager }: { readonly home: HomeCluster; readonly manager: string },
  signal: AbortSignal,
): Promise<void> {
  await repeatOnConflict(async (tries) => {
    const present = tries === 1 ? live : await home.get(refOf(live), signal);
    if (present === undefined) return;
    const { finalizers = [], resourceVersion = "" } = present.metadata;
    const body = { metadata: { resourceVersion, finalizers: change(finalizers) } };
    await home.patch(refOf(live), { type: "merge", body }, { manager }, signal).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.reason === "NotFound")) throw error;
    });
  });
}
