import { emptiedWarning } from "../../../apply/plan.ts";
import { Failure, messageOf } from "../../../core/failure.ts";
import { ApiError } from "../../../core/ports/cluster.ts";
import { HelmEngineError } from "../../../core/ports/helm-engine.ts";
import type { AttemptMark, RevisionHead, StoredRevision } from "../../../helm/release-store.ts";
import type { ActionEnd, ActionOutcome, ActionWait } from "../attempt/action.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";
import { type PlannedObjects, planObjects, shownInventory } from "./apply-objects.ts";
import { carryOn } from "./continue-revision.ts";
import { hidingIn, type QuotedRevision } from "./hide-secrets.ts";
import { isPassing } from "./hook-object.ts";
import { foreignObjects } from "./ownership.ts";
import { releaseObjects } from "./release-objects.ts";
import { type Former, formerManifest, type RevisionPlan } from "./revision-plan.ts";

/**
 * Makes a new revision of a release and brings its objects into the cluster, as Helm's actions do: pending record, hooks, objects,
 * wait, hooks, deployed. It continues what an earlier run has begun, from the Secret alone.
 */
export async function newRevision(
  plan: RevisionPlan,
  attempt: ReleaseAttempt,
  wait: ActionWait | undefined,
): Promise<ActionOutcome> {
  const { ctx, store } = attempt;
  const heads = await store.heads(ctx.run.signal);
  const under = await underWay(plan, heads, attempt);
  const former = await formerOf(heads, under, attempt);
  if (under !== undefined) {
    const outcome = await carryOn(plan, under, former, attempt, wait);
    // A run that was killed right after the first write has not shown it.
    const isShown = ctx.status().inventory !== undefined;
    return isShown ? outcome : withInventory(outcome, await shownInventory(under.observed, [], attempt));
  }
  return begin(plan, former, attempt, wait);
}

/** The pending revision of this action, which an earlier run has written. */
async function underWay(
  { ociDigest, pending }: RevisionPlan,
  [latest]: readonly RevisionHead[],
  { ctx, store, token }: ReleaseAttempt,
): Promise<StoredRevision | undefined> {
  if (latest?.status !== pending) return undefined;
  const stored = await store.read(latest.version, ociDigest, ctx.run.signal);
  const mark = stored?.mark;
  const isOurs = mark?.owner === ctx.owner.uid && mark.generation === ctx.generation && mark.token === token;
  return isOurs ? stored : undefined;
}

async function formerOf(
  heads: readonly RevisionHead[],
  under: StoredRevision | undefined,
  { ctx, store }: ReleaseAttempt,
): Promise<Former> {
  const others = heads.filter(({ version }) => version !== under?.version);
  // Helm compares with the deployed revision, or else with the latest one.
  const head = others.find(({ status }) => status === "deployed") ?? others[0];
  const snapshot = (ctx.status().history ?? []).find(({ version }) => version === head?.version);
  const deployed = head && (await store.read(head.version, snapshot?.ociDigest ?? "", ctx.run.signal));
  return { heads: others, deployed };
}

async function begin(
  plan: RevisionPlan,
  former: Former,
  attempt: ReleaseAttempt,
  wait: ActionWait | undefined,
): Promise<ActionOutcome> {
  const { ctx, store, token } = attempt;
  const unstored = async (message: string, quoted: readonly QuotedRevision[] = []): Promise<ActionEnd> => {
    const hide = await hidingIn(attempt, quoted);
    return { kind: "failed", message: hide(message), log: [], written: [] };
  };
  let prepared: Awaited<ReturnType<RevisionPlan["prepare"]>>;
  try {
    prepared = await plan.prepare(former.heads[0], former.deployed);
  } catch (error) {
    // Helm's error for a chart that cannot be rendered.
    if (error instanceof HelmEngineError && error.reason !== "busy" && error.reason !== "unavailable") {
      return unstored(error.message);
    }
    throw error;
  }
  if ("kind" in prepared) return prepared;
  if ("refused" in prepared) return unstored(prepared.refused);
  const quoted = [prepared.record.observed];
  const planned = await planObjects(
    prepared.record.observed,
    formerManifest(plan, former),
    attempt,
    false,
    plan.action,
  );
  if ("kind" in planned && planned.isBuild) return unstored(planned.message, quoted);
  if (!("kind" in planned) && plan.refusesForeign !== undefined) {
    const known = formerManifest(plan, former);
    const own = known === undefined ? [] : await releaseObjects(known, ctx);
    const foreign = await foreignObjects(planned.planned, own, prepared.record.observed, ctx);
    if (foreign.length > 0) return unstored(`${plan.refusesForeign}: ${foreign.join("; ")}`, quoted);
  }
  if (!("kind" in planned)) warnIfEmptied(planned, ctx);
  await keepHistory(plan, former, attempt);
  const mark: AttemptMark = {
    ...{ owner: ctx.owner.uid, action: plan.action },
    ...{ generation: ctx.generation, token },
  };
  let stored: StoredRevision;
  try {
    stored = await store.create(prepared.record, mark, ctx.run.signal);
  } catch (error) {
    if (error instanceof Failure) return unstored(error.message);
    if (!(error instanceof ApiError) || isPassing(error)) throw error;
    const isTaken = error.reason === "AlreadyExists";
    const mend = isTaken ? "; another client has stored it meanwhile: the next run goes on from what it finds" : "";
    return unstored(`create: failed to create: ${messageOf(error)}${mend}`, quoted);
  }
  const inventory = await shownInventory(prepared.record.observed, prepared.crds, attempt);
  const outcome = await carryOn(plan, stored, former, attempt, wait, planned);
  return withInventory(outcome, inventory);
}

/** A chart that renders nothing any longer deletes all objects, as in Flux. Users are warned before that. */
function warnIfEmptied({ planned }: PlannedObjects, ctx: HelmReleaseContext): void {
  const warning = emptiedWarning(planned.plan);
  if (warning === undefined) return;
  const message = `${warning}; if that is not meant, correct the chart or its values`;
  ctx.deps.log.warn(message, { ...ctx.run.key });
  ctx.record({ type: "Warning", reason: "PruningAll", message, annotations: {} });
}

function withInventory(outcome: ActionOutcome, inventory: Awaited<ReturnType<typeof shownInventory>>): ActionOutcome {
  return outcome.kind === "waiting" ? { ...outcome, inventory } : { ...outcome, inventory };
}

/** As many revisions as `spec.maxHistory` says, with the one to come; the deployed one stays (helm.sh/helm/v4/pkg/storage). */
async function keepHistory(
  { action }: RevisionPlan,
  { deployed, heads }: Former,
  attempt: ReleaseAttempt,
): Promise<void> {
  const { ctx, store } = attempt;
  const { maxHistory = 5 } = ctx.release.spec;
  if (action === "install" || maxHistory <= 0) return;
  const surplus = heads.length - (maxHistory - 1);
  const oldest = heads.toReversed().filter(({ version }) => version !== deployed?.version);
  for (const head of oldest.slice(0, Math.max(0, surplus))) await store.remove(head, ctx.run.signal);
}
