import { refOf } from "../../../core/manifest.ts";
import { ApiError } from "../../../core/ports/cluster.ts";
import type { ActionOutcome, ActionWait } from "../attempt/action.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import { applyDefinitions } from "./definitions.ts";
import { isPassing, releaseManager } from "./hook-object.ts";
import { newRevision } from "./new-revision.ts";
import { releaseDefinitions, renderRelease } from "./render.ts";
import { revised } from "./revise.ts";

/** Installs a release as Helm does (pkg/action/install.go). */
export async function installRelease(attempt: ReleaseAttempt, wait: ActionWait | undefined): Promise<ActionOutcome> {
  const { chart, ctx } = attempt;
  const { install = {}, targetNamespace } = ctx.release.spec;
  return newRevision(
    {
      action: "install",
      pending: "pending-install",
      before: "pre-install",
      after: "post-install",
      deployed: "Install complete",
      failed: (name, why) => `Release "${name}" failed: ${why}`,
      hookFailed: (event, why) => `failed ${event}: ${why}`,
      prepare: async (latest) => {
        const { history = [] } = ctx.release.status;
        // A release of ours that a user uninstalled does not belong to another owner.
        const wasOurs = latest?.status === "uninstalled" && history.some(({ version }) => version === latest.version);
        const isTaken = latest !== undefined && latest.status !== "uninstalled" && latest.status !== "failed";
        if (latest !== undefined && !wasOurs && (isTaken || install.replace !== true)) {
          return { refused: "release name check failed: cannot reuse a name that is still in use" };
        }
        const policy = install.crds ?? "Create";
        const wanted = policy === "Skip" ? [] : await releaseDefinitions(attempt);
        const definitions = await applyDefinitions(wanted, policy, wait, attempt);
        if (definitions.kind === "waiting") return definitions;
        if (definitions.kind === "failed") return { refused: definitions.message };
        const { crds, ...record } = await renderRelease("install", (latest?.version ?? 0) + 1, attempt);
        if (install.createNamespace === true && targetNamespace !== undefined) {
          const refused = await createNamespace(targetNamespace, attempt);
          if (refused !== undefined) return { refused };
        }
        const now = new Date(ctx.deps.clock.now()).toISOString();
        const change = {
          status: "pending-install",
          description: "Initial install underway",
          firstDeployed: now,
          lastDeployed: now,
        } as const;
        return { record: await revised(record, change, attempt, chart.ociDigest), crds };
      },
      refusesForeign: install.disableTakeOwnership === true ? "unable to continue with install" : undefined,
      disablesHooks: install.disableHooks === true,
      disablesWait: install.disableWait === true,
      waitsForJobs: install.disableWaitForJobs !== true,
      ociDigest: chart.ociDigest,
    },
    attempt,
    wait,
  );
}

/** By apply, as in Flux, but an existing one keeps its labels. Undefined once it is there. */
async function createNamespace(name: string, { ctx }: ReleaseAttempt): Promise<string | undefined> {
  const { run, target } = ctx;
  const manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { name } } };
  try {
    if ((await target.get(refOf(manifest), run.signal)) !== undefined) return undefined;
    await target.apply(manifest, { manager: releaseManager, force: false }, run.signal);
  } catch (error) {
    if (!(error instanceof ApiError) || isPassing(error)) throw error;
    return error.message;
  }
  return undefined;
}
