import { isTrue } from "../../api/condition.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import type { StoredRevision } from "../../helm/release-store.ts";
import type { ReleaseActions } from "./attempt/action.ts";
import type { ReleaseAttempt } from "./attempt/attempt.ts";
import type { Carried } from "./carried.ts";
import type { Loop } from "./loop-state.ts";
import { nextStep } from "./next-step.ts";
import { ongoingAction } from "./ongoing-action.ts";
import { withoutConditions } from "./release-status.ts";
import { reportDone } from "./report.ts";
import { takeForce } from "./requests.ts";
import { headsOf } from "./stored-heads.ts";

/**
 * Brings a release to its wanted state, action by action, until nothing is left to do, the run has to wait, or a failure ends the
 * pass. A run goes on where the last one has ended: the release Secrets say how far an action has come.
 */
export async function releaseLoop(
  attempt: ReleaseAttempt,
  actions: ReleaseActions,
  carried: Carried,
): Promise<FlowResult> {
  const { ctx, token } = attempt;
  const { pass } = carried;
  const isSame = pass?.token === token && pass.generation === ctx.generation;
  const { isForced, status } = takeForce(ctx.status(), ctx);
  let loop: Loop = {
    ...{ attempt, actions, carried, isForced, status },
    ran: new Set(isSame ? pass.ran : []),
    wait: isSame ? pass.wait : undefined,
    startedAt: isSame ? pass.startedAt : undefined,
  };
  if (await isSettled(loop)) return reportDone(withoutConditions(loop.status, "Reconciling"), carried, attempt);
  for (;;) {
    const last = await latest(loop);
    const step = (await ongoingAction(last, loop)) ?? (await nextStep(last, loop));
    if ("outcome" in step) return step;
    loop = step;
  }
}

/** Whether the last run found the release as wanted, and no other writer has changed it since: then no record is read. */
async function isSettled({ attempt, carried, isForced, status }: Loop): Promise<boolean> {
  const { ctx, store, token } = attempt;
  const { settled: known } = carried;
  const isDetecting = (ctx.release.spec.driftDetection?.mode ?? "disabled") !== "disabled";
  if (known === undefined || isForced || isDetecting || !isTrue(status.conditions ?? [], "Ready")) return false;
  if (known.token !== token || known.generation !== ctx.generation) return false;
  const [head] = await headsOf(store, ctx);
  return head?.uid === known.uid && head.resourceVersion === known.resourceVersion;
}

/** The latest revision, with the digest that its snapshot has to have. */
async function latest({ attempt, status }: Loop): Promise<StoredRevision | undefined> {
  const { ctx, store } = attempt;
  const [head] = await headsOf(store, ctx);
  if (head === undefined) return undefined;
  const snapshot = (status.history ?? []).find(({ version }) => version === head.version);
  return store.read(head.version, snapshot?.ociDigest ?? "", ctx.run.signal);
}
