import { messageOf } from "../../../core/failure.ts";
import { ApiError } from "../../../core/ports/cluster.ts";
import { HelmEngineError, type RecordChange, type Rendered } from "../../../core/ports/helm-engine.ts";
import type { RevisionHead, StoredRevision } from "../../../helm/release-store.ts";
import type { ActionOutcome, ActionWait } from "../attempt/action.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import { applyDefinitions } from "./definitions.ts";
import { isPassing, releaseManager } from "./hook-object.ts";
import { planRelease } from "./plan-release.ts";
import { releaseObjects } from "./release-objects.ts";
import { isUnderWay, type ReleaseKind, releaseRevision, writerOf } from "./release-revision.ts";
import { renderRelease } from "./render-release.ts";
import { recordLimits } from "./revise.ts";

/** Nothing is stored yet: it does not count for remediation. */
function early(message: string): ActionOutcome {
  return { kind: "failed", message, log: [], written: [] };
}

/** Installs a release (Helm's pkg/action/install.go), or goes on with an install that an earlier run has begun. */
export async function installRelease(attempt: ReleaseAttempt, wait: ActionWait | undefined): Promise<ActionOutcome> {
  const { ctx, store } = attempt;
  const heads = await store.heads(ctx.run.signal);
  const [head] = heads;
  const last = head && (await store.read(head.version, attempt.chart.ociDigest, ctx.run.signal));
  if (last !== undefined && isUnderWay(last, "install", attempt)) {
    return releaseRevision({ kind: "install", attempt, stored: last }, wait);
  }
  const mayReplace = ctx.release.spec.install?.replace === true;
  const isReplaceable = head?.status === "uninstalled" || head?.status === "failed";
  if (head !== undefined && !(mayReplace && isReplaceable)) {
    return early("release name check failed: cannot reuse a name that is still in use");
  }
  const refusal = await createNamespace(attempt);
  if (refusal !== undefined) return early(refusal);
  return renderAndRelease("install", attempt, { heads, last, wait });
}

/** Upgrades a release (pkg/action/upgrade.go), or goes on. `last`: the latest stored revision. */
export async function upgradeRelease(
  attempt: ReleaseAttempt,
  last: StoredRevision,
  wait: ActionWait | undefined,
): Promise<ActionOutcome> {
  const { ctx, names, store } = attempt;
  if (isUnderWay(last, "upgrade", attempt)) return releaseRevision({ kind: "upgrade", attempt, stored: last }, wait);
  const heads = await store.heads(ctx.run.signal);
  const isCurrent = last.status === "failed" || last.status === "superseded";
  if (!isCurrent && !heads.some(({ status }) => status === "deployed")) {
    return early(`${JSON.stringify(names.name)} has no deployed releases`);
  }
  return renderAndRelease("upgrade", attempt, { heads, last, wait });
}

/** Rolls back to a revision (pkg/action/rollback.go), or goes on. */
export async function rollbackRelease(
  attempt: ReleaseAttempt,
  last: StoredRevision,
  toVersion: number,
  wait: ActionWait | undefined,
): Promise<ActionOutcome> {
  const { ctx, store } = attempt;
  const { signal } = ctx.run;
  if (isUnderWay(last, "rollback", attempt)) return releaseRevision({ kind: "rollback", attempt, stored: last }, wait);
  const target = await store.read(toVersion, "", signal);
  if (target === undefined) return early("release: not found");
  const objects = await releaseObjects(target.observed, ctx);
  const plan = await planRelease(
    objects,
    await releaseObjects(last.observed, ctx),
    { action: "rollback", release: target.observed },
    ctx,
    undefined,
  );
  if (plan.kind === "refused" && plan.isEarly) return early(plan.message);
  const change: RecordChange = {
    version: last.version + 1,
    status: "pending-rollback",
    description: `Rollback to ${toVersion}`,
    firstDeployed: last.observed.firstDeployed,
    lastDeployed: timeOf(attempt),
  };
  const heads = await store.heads(signal);
  const stored = await create("rollback", attempt, target.bytes, change, heads);
  return releaseRevision({ kind: "rollback", attempt, stored, plan }, undefined);
}

function timeOf({ ctx }: ReleaseAttempt): string {
  return new Date(ctx.deps.clock.now()).toISOString();
}

interface Before {
  readonly heads: readonly RevisionHead[];
  readonly last: StoredRevision | undefined;
  readonly wait: ActionWait | undefined;
}

async function renderAndRelease(
  kind: "install" | "upgrade",
  attempt: ReleaseAttempt,
  { heads, last, wait }: Before,
): Promise<ActionOutcome> {
  const { ctx } = attempt;
  const version = (last?.version ?? 0) + 1;
  const keepsValues = kind === "upgrade" && ctx.release.spec.upgrade?.preserveValues === true;
  let rendered: Rendered;
  try {
    rendered = await renderRelease(attempt, kind, version, keepsValues ? last?.observed.values : undefined);
  } catch (error) {
    if (!(error instanceof HelmEngineError) || error.reason === "busy" || error.reason === "unavailable") throw error;
    return early(error.message);
  }
  const defined = await applyDefinitions(rendered.crds, kind, attempt, wait);
  if (defined.kind === "waiting") return defined;
  if (defined.kind === "failed") return early(defined.message);
  const objects = await releaseObjects(rendered.observed, ctx);
  const former = last === undefined || kind === "install" ? [] : await releaseObjects(last.observed, ctx);
  const plan = await planRelease(objects, former, { action: kind, release: rendered.observed }, ctx, undefined);
  if (plan.kind === "refused" && plan.isEarly) return early(plan.message);
  const now = timeOf(attempt);
  const firstDeployed = kind === "upgrade" ? (last?.observed.firstDeployed ?? now) : now;
  const description = kind === "install" ? "Initial install underway" : "Preparing upgrade";
  const change = {
    status: `pending-${kind}`,
    description,
    firstDeployed,
    lastDeployed: now,
    applyMethod: "ssa",
  } as const;
  const stored = await create(kind, attempt, rendered.bytes, change, heads);
  return releaseRevision({ kind, attempt, stored, plan, crds: rendered.crds }, undefined);
}

/** Creates the pending revision. Before that the oldest ones go, so that no more are left than are to be kept; never one that is deployed. */
async function create(
  kind: ReleaseKind,
  attempt: ReleaseAttempt,
  bytes: Rendered["bytes"],
  change: RecordChange,
  heads: readonly RevisionHead[],
): Promise<StoredRevision> {
  const { ctx, store, token } = attempt;
  const { deps, generation, namespace, owner, release, run } = ctx;
  const { ociDigest } = writerOf(attempt, kind);
  const options = { tenant: { cluster: run.key.cluster, namespace }, ociDigest };
  const record = await deps.helm.amend(bytes, change, options, recordLimits, run.signal);
  const { maxHistory = 5 } = release.spec;
  const tooMany = maxHistory > 0 && kind !== "install" ? heads.length - (maxHistory - 1) : 0;
  const oldest = heads.toSorted((a, b) => a.version - b.version).filter(({ status }) => status !== "deployed");
  for (const head of oldest.slice(0, Math.max(tooMany, 0))) await store.remove(head, run.signal);
  return store.create(record, { owner: owner.uid, action: kind, generation, token }, run.signal);
}

/** Creates the target namespace if the spec asks for it; Sluice never deletes it. Answers why the API server refuses it. */
async function createNamespace({ ctx }: ReleaseAttempt): Promise<string | undefined> {
  const { release, run, target } = ctx;
  const { install, targetNamespace } = release.spec;
  if (install?.createNamespace !== true || targetNamespace === undefined) return undefined;
  const metadata = { name: targetNamespace, labels: { name: targetNamespace } };
  try {
    await target.create({ apiVersion: "v1", kind: "Namespace", metadata }, { manager: releaseManager }, run.signal);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError) || isPassing(error)) throw error;
    return error.reason === "AlreadyExists" ? undefined : messageOf(error);
  }
}
