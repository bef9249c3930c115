import { messageOf } from "../../core/failure.ts";
import type { AppliedRevision } from "./apply-revision.ts";
import type { Attempt } from "./attempt.ts";

/** What a run did to the objects, as far as it came. */
export type Changes = Pick<AppliedRevision, "applied" | "pruned">;

export const noChanges: Changes = { applied: [], pruned: [] };

/** Adds the end of an attempt, and what its last run did, to the history, for people and dashboards. `outcome`: the reason of the Ready condition. */
export async function rememberRun(
  outcome: string,
  { applied, pruned }: Changes,
  { of, source, startedAt }: Attempt,
): Promise<void> {
  const at = of.deps.clock.now();
  const count = (change: string) => applied.filter((object) => object.change === change).length;
  const record = {
    at,
    revision: source.revision,
    outcome,
    durationMs: at - startedAt,
    created: count("created"),
    configured: count("configured"),
    unchanged: count("unchanged"),
    deleted: pruned.filter(({ kind }) => kind === "deleted").length,
  };
  try {
    await of.deps.history.append(of.run.key, record, of.run.signal);
  } catch (error) {
    of.run.signal.throwIfAborted();
    // Nothing is decided by it, so no run is done again for it.
    of.deps.log.warn("end of a run not remembered", { ...of.run.key, error: messageOf(error) });
  }
}
