import type { StoredRevision } from "../../../helm/release-store.ts";
import type { ActionOutcome, ActionWait } from "../attempt/action.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import { newRevision } from "./new-revision.ts";
import { revised } from "./revise.ts";

/** Rolls a release back to a revision as Helm does (pkg/action/rollback.go): its record becomes that of a new revision. */
export async function rollBack(
  attempt: ReleaseAttempt,
  last: StoredRevision,
  toVersion: number,
  wait: ActionWait | undefined,
): Promise<ActionOutcome> {
  const { ctx, store } = attempt;
  const { rollback = {} } = ctx.release.spec;
  return newRevision(
    {
      action: "rollback",
      pending: "pending-rollback",
      before: "pre-rollback",
      after: "post-rollback",
      deployed: `Rollback to ${toVersion}`,
      failed: (name, why) => `Rollback "${name}" failed: ${why}`,
      hookFailed: (_event, why) => why,
      prepare: async (latest) => {
        const target = await store.read(toVersion, "", ctx.run.signal);
        if (target === undefined) return { refused: `release: not found: revision ${toVersion}` };
        const change = {
          version: (latest?.version ?? last.version) + 1,
          status: "pending-rollback",
          description: `Rollback to ${toVersion}`,
          firstDeployed: last.observed.firstDeployed,
          lastDeployed: new Date(ctx.deps.clock.now()).toISOString(),
        } as const;
        return { record: await revised(target, change, attempt, ""), crds: [] };
      },
      disablesHooks: rollback.disableHooks === true,
      disablesWait: rollback.disableWait === true,
      waitsForJobs: rollback.disableWaitForJobs !== true,
      ociDigest: "",
      target: toVersion,
    },
    attempt,
    wait,
  );
}
