import { formatEntryId } from "../../../apply/set/entry-id.ts";
import { refOf } from "../../../core/manifest.ts";
import type { HookEvent, Rendered, RenderedObject } from "../../../core/ports/helm-engine.ts";
import type { StoredRevision } from "../../../helm/release-store.ts";
import type { ActionOutcome, ActionWait, WrittenRevision } from "../attempt/action.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import { applyObjects } from "./apply-objects.ts";
import { awaitObjects } from "./await-objects.ts";
import { runHooks } from "./hooks.ts";
import { planRelease, type ReleasePlan } from "./plan-release.ts";
import { releaseObjects } from "./release-objects.ts";
import { renderRelease } from "./render-release.ts";
import { finishRevision, revise } from "./revise.ts";
import { timeoutMsOf } from "./timeouts.ts";

export type ReleaseKind = "install" | "rollback" | "upgrade";

/** A revision that is being released, and what is known of it in this run. */
export interface PendingRelease {
  readonly kind: ReleaseKind;
  readonly attempt: ReleaseAttempt;
  readonly stored: StoredRevision;
  /** Of this run; undefined in one that goes on. */
  readonly plan?: ReleasePlan;
  readonly crds?: readonly RenderedObject[];
}

const words = {
  install: { failed: "Release", done: "Install complete" },
  upgrade: { failed: "Upgrade", done: "Upgrade complete" },
  rollback: { failed: "Rollback", done: undefined },
} as const;

/** Whether a revision is of this attempt and under way. */
export function isUnderWay(stored: StoredRevision | undefined, kind: ReleaseKind, { ctx, token }: ReleaseAttempt) {
  const mark = stored?.mark;
  return (
    stored?.status === `pending-${kind}` &&
    mark?.action === kind &&
    mark.owner === ctx.owner.uid &&
    mark.generation === ctx.generation &&
    mark.token === token
  );
}

/**
 * Brings a pending revision to its end as Helm does: hooks, objects, the wait for them, hooks, and the statuses of all revisions. Each
 * step finds out by itself what an earlier run has done of it.
 */
export async function releaseRevision(pending: PendingRelease, wait: ActionWait | undefined): Promise<ActionOutcome> {
  const { attempt, kind } = pending;
  const { ctx } = attempt;
  if (pending.plan?.kind === "refused") return fail(pending, pending.plan.message);
  const before = await hooks("pre", pending, pending.stored, wait);
  if (before.kind === "waiting") return { kind: "waiting", wait: before.wait, dueInMs: before.dueInMs };
  const begun = { ...pending, stored: before.stored };
  if (before.kind === "failed") return fail(begun, hookText("pre", kind, before.message));
  const objects = await releaseObjects(begun.stored.observed, ctx);
  const plan =
    pending.plan ??
    (await planRelease(
      objects,
      await formerObjects(begun),
      { action: kind, release: begun.stored.observed },
      ctx,
      wait,
    ));
  if (plan.kind === "refused") return fail(begun, plan.message);
  const applied = await applyObjects(plan, kind, attempt, wait);
  if (applied.kind === "waiting") return applied;
  if (applied.kind === "failed") return fail(begun, applied.message);
  const awaited = await awaitObjects(objects, kind, attempt, wait);
  if (awaited.kind === "waiting") return awaited;
  if (awaited.kind === "failed") return fail(begun, awaited.message);
  const after = await hooks("post", begun, begun.stored, wait);
  if (after.kind === "waiting") return { kind: "waiting", wait: after.wait, dueInMs: after.dueInMs };
  const done = { ...begun, stored: after.stored };
  return after.kind === "failed" ? fail(done, hookText("post", kind, after.message)) : succeed(done);
}

function hookText(when: "post" | "pre", kind: ReleaseKind, message: string): string {
  if (kind === "install") return `failed ${when}-install: ${message}`;
  return kind === "upgrade" ? `${when}-upgrade hooks failed: ${message}` : message;
}

async function hooks(
  when: "post" | "pre",
  { attempt, kind }: PendingRelease,
  stored: StoredRevision,
  wait: ActionWait | undefined,
) {
  const { ctx, healthRules } = attempt;
  if (ctx.release.spec[kind]?.disableHooks === true) return { kind: "done", stored } as const;
  const event: HookEvent = `${when}-${kind}`;
  const runner = { ...writerOf(attempt, kind), releaseNamespace: stored.observed.namespace, healthRules };
  return runHooks({ ...runner, timeoutMs: timeoutMsOf(kind, ctx) }, event, stored, wait);
}

export function writerOf({ chart, ctx, store }: ReleaseAttempt, kind: ReleaseKind) {
  return { ctx, store, ociDigest: kind === "rollback" ? "" : chart.ociDigest };
}

/** Of the revision before: by the latest that is deployed, or the one before the pending one. */
async function formerObjects({ attempt, kind, stored }: PendingRelease) {
  if (kind === "install") return [];
  const { ctx, store } = attempt;
  const heads = (await store.heads(ctx.run.signal)).filter(({ version }) => version < stored.version);
  const head = heads.find(({ status }) => status === "deployed") ?? heads[0];
  const former = head && (await store.read(head.version, "", ctx.run.signal));
  return former === undefined ? [] : releaseObjects(former.observed, ctx);
}

async function fail({ attempt, kind, ...pending }: PendingRelease, message: string): Promise<ActionOutcome> {
  const description = `${words[kind].failed} ${JSON.stringify(attempt.names.name)} failed: ${message}`;
  const record = await finishRevision(writerOf(attempt, kind), pending.stored, { status: "failed", description });
  const inventory = await shownInventory({ ...pending, attempt, kind, stored: record });
  return { kind: "failed", message, log: [], written: [{ record, isGone: false }], inventory };
}

/** The former deployed revisions first: if the run is killed between, the pending one goes on. */
async function succeed({ attempt, kind, ...pending }: PendingRelease): Promise<ActionOutcome> {
  const { ctx, store } = attempt;
  const { signal } = ctx.run;
  const writer = writerOf(attempt, kind);
  const superseded: WrittenRevision[] = [];
  for (const { status, version } of await store.heads(signal)) {
    if (status !== "deployed" || version === pending.stored.version) continue;
    const ociDigest = ctx.status().history?.find((snapshot) => snapshot.version === version)?.ociDigest ?? "";
    const former = await store.read(version, ociDigest, signal);
    if (former === undefined) continue;
    const record = await revise({ ctx, store, ociDigest }, former, { status: "superseded" }, undefined);
    superseded.push({ record, isGone: false });
  }
  const { done } = words[kind];
  const change = { status: "deployed", ...(done === undefined ? {} : { description: done }) } as const;
  const record = await finishRevision(writer, pending.stored, change);
  const inventory = await shownInventory({ ...pending, attempt, kind, stored: record });
  return { kind: "succeeded", written: [{ record, isGone: false }, ...superseded], inventory };
}

/** `status.inventory` of a revision: the objects of its manifest and all of `crds/` (reference helmrelease 3). */
async function shownInventory({ attempt, crds, kind, stored }: PendingRelease) {
  const { ctx } = attempt;
  const objects = await releaseObjects(stored.observed, ctx);
  const known = crds ?? (kind === "rollback" ? [] : (await rendered(attempt, kind, stored)).crds);
  const ofManifest = objects.map(({ ref }) => ({ id: formatEntryId(ref), v: ref.version }));
  const ofCrds = known.map(({ manifest }) => {
    const ref = refOf(manifest);
    return { id: formatEntryId({ ...ref, namespace: "" }), v: ref.version };
  });
  return [...new Map([...ofManifest, ...ofCrds].map((entry) => [entry.id, entry])).values()];
}

async function rendered(
  attempt: ReleaseAttempt,
  kind: "install" | "upgrade",
  stored: StoredRevision,
): Promise<Rendered> {
  return renderRelease(attempt, kind, stored.version, undefined);
}
