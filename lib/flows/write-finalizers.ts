import { type LiveObject, refOf } from "../core/manifest.ts";
import { ApiError, type Cluster } from "../core/ports/cluster.ts";

const maxTries = 3;

/**
 * Changes an object's list of finalizers, under a precondition on the version that was read: another controller may change
 * it at the same time, and a merge patch replaces the list whole. An object that is gone needs no change.
 */
export async function writeFinalizers(
  live: LiveObject,
  change: (finalizers: readonly string[]) => readonly string[],
  { cluster, manager }: { readonly cluster: Cluster; readonly manager: string },
  signal: AbortSignal,
): Promise<void> {
  let present: LiveObject | undefined = live;
  for (let tries = 1; present !== undefined; tries++) {
    const { finalizers = [], resourceVersion = "" } = present.metadata;
    const body = { metadata: { resourceVersion, finalizers: change(finalizers) } };
    try {
      await cluster.patch(refOf(live), { type: "merge", body }, { manager }, signal);
      return;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.reason === "NotFound") return;
      if (error.reason !== "Conflict" || tries === maxTries) throw error;
      present = await cluster.get(refOf(live), signal);
    }
  }
}
