import type { StoredRevision } from "../../../helm/release-store.ts";
import type { ActionOutcome, ActionWait } from "../attempt/action.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import { applyDefinitions } from "./definitions.ts";
import { newRevision } from "./new-revision.ts";
import { releaseDefinitions, renderRelease } from "./render.ts";
import { revised } from "./revise.ts";

/** Upgrades a release as Helm does (pkg/action/upgrade.go). `last`: its latest revision. */
export async function upgradeRelease(
  attempt: ReleaseAttempt,
  last: StoredRevision,
  wait: ActionWait | undefined,
): Promise<ActionOutcome> {
  const { chart, ctx } = attempt;
  const { upgrade = {} } = ctx.release.spec;
  return newRevision(
    {
      action: "upgrade",
      pending: "pending-upgrade",
      before: "pre-upgrade",
      after: "post-upgrade",
      deployed: "Upgrade complete",
      failed: (name, why) => `Upgrade "${name}" failed: ${why}`,
      hookFailed: (event, why) => `${event} hooks failed: ${why}`,
      prepare: async (latest, deployed) => {
        const { observed } = last;
        if (observed.status === "uninstalled" || observed.status === "uninstalling") {
          return { refused: `"${observed.name}" has no deployed releases` };
        }
        const former = upgrade.preserveValues === true ? (deployed ?? last) : undefined;
        const policy = upgrade.crds ?? "Create";
        const wanted = policy === "Skip" ? [] : await releaseDefinitions(attempt, former);
        const definitions = await applyDefinitions(wanted, policy, wait, attempt);
        if (definitions.kind === "waiting") return definitions;
        if (definitions.kind === "failed") return { refused: definitions.message };
        const revision = (latest?.version ?? last.version) + 1;
        const { crds, ...record } = await renderRelease("upgrade", revision, attempt, former);
        const change = {
          status: "pending-upgrade",
          description: "Preparing upgrade",
          firstDeployed: observed.firstDeployed,
          lastDeployed: new Date(ctx.deps.clock.now()).toISOString(),
        } as const;
        return { record: await revised(record, change, attempt, chart.ociDigest), crds };
      },
      refusesForeign: upgrade.disableTakeOwnership === true ? "unable to continue with update" : undefined,
      disablesHooks: upgrade.disableHooks === true,
      disablesWait: upgrade.disableWait === true,
      waitsForJobs: upgrade.disableWaitForJobs !== true,
      ociDigest: chart.ociDigest,
    },
    attempt,
    wait,
  );
}
