import { kustomizationStatusManager } from "../../api/names.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

const maxTries = 3;

/**
 * Changes the list of finalizers, under a precondition on the version that was read: another controller may change it at
 * the same time, and a merge patch replaces the list whole.
 */
export async function writeFinalizers(
  { cluster, live, run }: Pick<SubjectOfRun, "cluster" | "live" | "run">,
  change: (finalizers: readonly string[]) => readonly string[],
): Promise<void> {
  let present: LiveObject | undefined = live;
  for (let tries = 1; present !== undefined; tries++) {
    const { finalizers = [], resourceVersion = "" } = present.metadata;
    const body = { metadata: { resourceVersion, finalizers: change(finalizers) } };
    try {
      await cluster.patch(refOf(live), { type: "merge", body }, { manager: kustomizationStatusManager }, run.signal);
      return;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.reason === "NotFound") return;
      if (error.reason !== "Conflict" || tries === maxTries) throw error;
      present = await cluster.get(refOf(live), run.signal);
    }
  }
}
