import type { AttemptMark, RevisionHead, StoredRevision } from "../../../helm/release-store.ts";
import type { ActionEnd, WrittenRevision } from "../attempt/action.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import { hidingIn } from "./hide-secrets.ts";
import { recordLimits, revise } from "./revise.ts";
import type { Former, RevisionPlan } from "./revision-plan.ts";

/** The last writes: what it replaces is superseded, and the revision is deployed. */
export async function succeed(
  plan: RevisionPlan,
  stored: StoredRevision,
  former: Former,
  attempt: ReleaseAttempt,
): Promise<ActionEnd> {
  const written: WrittenRevision[] = [];
  for (const { version } of former.heads.filter((head) => isReplaced(head, plan, former))) {
    written.push(...(await rewrite(version, "superseded", attempt)));
  }
  const record = await finish(plan, stored, { status: "deployed", description: plan.deployed }, attempt);
  return { kind: "succeeded", written: [{ record, isGone: false }, ...written] };
}

/** The deployed revision; for an upgrade also its starting point, and for an install the uninstalled release that it continues. */
function isReplaced({ status, version }: RevisionHead, { action }: RevisionPlan, { deployed }: Former): boolean {
  if (status === "deployed") return true;
  if (action === "upgrade") return version === deployed?.version;
  return action === "install" && status === "uninstalled" && version === deployed?.version;
}

/** A former revision in its new state; an empty list if it is gone. Without a status it is written unchanged. */
async function rewrite(
  version: number,
  status: "superseded" | undefined,
  { ctx, store }: ReleaseAttempt,
): Promise<readonly WrittenRevision[]> {
  const snapshot = (ctx.status().history ?? []).find((one) => one.version === version);
  const ociDigest = snapshot?.ociDigest ?? "";
  const former = await store.read(version, ociDigest, ctx.run.signal);
  if (former === undefined) return [];
  const change = status === undefined ? {} : { status };
  return [{ record: await revise({ ctx, store, ociDigest }, former, change, undefined), isGone: false }];
}

/**
 * The objects could not be applied, or did not become ready. Helm then also rewrites the starting point of an upgrade unchanged, and
 * supersedes that of a rollback.
 */
export async function failObjects(
  plan: RevisionPlan,
  message: string,
  stored: StoredRevision,
  { deployed, heads }: Former,
  attempt: ReleaseAttempt,
): Promise<ActionEnd> {
  const rewritten =
    plan.action === "upgrade" && deployed !== undefined
      ? await rewrite(deployed.version, undefined, attempt)
      : plan.action === "rollback" && heads[0] !== undefined
        ? await rewrite(heads[0].version, "superseded", attempt)
        : [];
  const end = await fail(plan, message, stored, attempt);
  return { ...end, written: [...end.written, ...rewritten] };
}

/** `why` may quote a Secret. The record and all other texts get it with `*****` in place of the value. */
export async function fail(
  plan: RevisionPlan,
  why: string,
  stored: StoredRevision,
  attempt: ReleaseAttempt,
): Promise<Extract<ActionEnd, { kind: "failed" }>> {
  const message = (await hidingIn(attempt, [stored.observed]))(why);
  const description = plan.failed(stored.observed.name, message);
  const record = await finish(plan, stored, { status: "failed", description }, attempt);
  return { kind: "failed", message, log: logOf(plan, stored, message), written: [{ record, isGone: false }] };
}

/** Helm's log of a failed action, as far as it names the failed step. */
function logOf({ action }: RevisionPlan, { observed }: StoredRevision, message: string): readonly string[] {
  return [`warning: ${action} failed: ${JSON.stringify({ name: observed.name, error: message })}`];
}

/** The last write of a revision records that, by its own digest: if a run was killed after it, the next run knows how the action ended. */
async function finish(
  plan: RevisionPlan,
  stored: StoredRevision,
  change: { readonly status: "deployed" | "failed"; readonly description: string },
  attempt: ReleaseAttempt,
): Promise<StoredRevision> {
  const { ctx, store, token } = attempt;
  const options = { tenant: { cluster: ctx.run.key.cluster, namespace: ctx.namespace }, ociDigest: plan.ociDigest };
  const record = await ctx.deps.helm.amend(stored.bytes, change, options, recordLimits, ctx.run.signal);
  const mark: AttemptMark = {
    ...{ owner: ctx.owner.uid, action: plan.action, generation: ctx.generation, token },
    ended: record.observed.digest,
    attempted: { ociDigest: plan.ociDigest, configDigest: attempt.configDigest },
    ...(plan.target === undefined ? {} : { target: plan.target }),
  };
  return store.update(stored, record, mark, ctx.run.signal);
}
