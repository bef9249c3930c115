import { type LiveObject, refOf } from "../core/manifest.ts";
import { ApiError } from "../core/ports/cluster.ts";
import type { HomeCluster } from "../core/ports/home-and-target.ts";

const maxTries = 3;

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
  let present: LiveObject | undefined = live;
  for (let tries = 1; present !== undefined; tries++) {
    const { finalizers = [], resourceVersion = "" } = present.metadata;
    const body = { metadata: { resourceVersion, finalizers: change(finalizers) } };
    try {
      await home.patch(refOf(live), { type: "merge", body }, { manager }, signal);
      return;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.reason === "NotFound") return;
      if (error.reason !== "Conflict" || tries === maxTries) throw error;
      present = await home.get(refOf(live), signal);
    }
  }
}
