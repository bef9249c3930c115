import type { FlowResult } from "../../core/ports/run.ts";
import type { AttemptMark, StoredRevision } from "../../helm/release-store.ts";
import { type EndedAction, statusAfter } from "./action-end.ts";
import { hidingEnd } from "./actions/hide-secrets.ts";
import type { WrittenRevision } from "./attempt/action.ts";
import { attemptBegun, afterAction, runAction } from "./carry-out.ts";
import type { Loop } from "./loop-state.ts";

/** An action that an earlier run has begun, or has ended without updating the status; undefined if there is none. */
export async function ongoingAction(
  last: StoredRevision | undefined,
  loop: Loop,
): Promise<FlowResult | Loop | undefined> {
  const { attempt, status } = loop;
  const { ctx } = attempt;
  const mark = last?.mark;
  if (last === undefined || mark === undefined || mark.owner !== ctx.owner.uid) return undefined;
  // A release that is half uninstalled is uninstalled to the end, whatever is wanted by now: nothing can be upgraded.
  const isCurrent = mark.action === "uninstall" || (mark.generation === ctx.generation && mark.token === attempt.token);
  const isUnderWay =
    last.status.startsWith("pending-") ||
    (last.status === "uninstalling" && mark.action === "uninstall") ||
    (last.status === "deployed" && mark.action === "test" && mark.ended === undefined);
  if (isUnderWay) return isCurrent ? runAction(mark.action, last, loop) : undefined;
  const snapshot = (status.history ?? []).find(({ version }) => version === last.version);
  if (mark.ended === undefined || snapshot?.digest === last.observed.digest || mark.action === "test") return undefined;
  // The written digest includes the artifact of that action: the chart may have changed since.
  const observed = await attempt.observe(last, mark.attempted?.ociDigest ?? attempt.chart.ociDigest);
  if (observed.digest !== mark.ended || mark.action === "uninstall") return undefined;
  const own = { record: { bytes: last.bytes, observed }, isGone: false, attempted: mark.attempted };
  const written = [own, ...(await supersededBefore(last, loop))];
  const isDone = observed.status === "deployed";
  const message = observed.description.replace(/^(?:Release|Upgrade|Rollback) ".*?" failed: /, "");
  const end = isDone ? { kind: "succeeded" as const, written } : { kind: "failed" as const, message, log: [], written };
  const begun = { ...loop, status: attemptBegun(mark.action, loop) };
  return isCurrent ? afterAction(mark.action, end, begun) : endedBefore(mark, end, begun);
}

/**
 * The Secrets say how an action of an earlier attempt has ended, and the status does not. This writes it into the status; then the present
 * attempt goes on.
 */
async function endedBefore({ action: name, target }: AttemptMark, told: EndedAction["end"], loop: Loop): Promise<Loop> {
  const { attempt } = loop;
  const previous = loop.status.history?.find(({ version }) => version === target);
  const end = told.kind === "failed" ? await hidingEnd(told, attempt) : told;
  const status = await statusAfter({ name, end, previous, durationMs: 0, isOfFormer: true }, loop.status, attempt);
  attempt.ctx.note(status);
  return { ...loop, status };
}

/** The revisions that the status still takes for deployed, and that the action of the latest one has superseded. */
async function supersededBefore(
  { version: latestVersion }: StoredRevision,
  { attempt, status }: Loop,
): Promise<readonly WrittenRevision[]> {
  const { ctx, store } = attempt;
  const former: WrittenRevision[] = [];
  for (const { ociDigest = "", status: known, version } of status.history ?? []) {
    if (known !== "deployed" || version >= latestVersion) continue;
    const stored = await store.read(version, ociDigest, ctx.run.signal);
    if (stored?.status === "superseded") former.push({ record: stored, isGone: false });
  }
  return former;
}
