import { isFluxGroup } from "../../api/kinds/unreconciled.ts";
import { applyAll, type Pending } from "../../apply/apply-all.ts";
import type { AppliedObject } from "../../apply/apply-object.ts";
import { saveIfChanged, withApplied } from "../../apply/inventory.ts";
import { linesOf } from "../../apply/plan-set.ts";
import type { LiveObjects } from "../../apply/set/live-objects.ts";
import { skippedBy } from "../../apply/set/opt-outs.ts";
import { terminatingText } from "../../apply/terminating.ts";
import { someOf } from "../../core/cut-text.ts";
import { Failure } from "../../core/failure.ts";
import { subject } from "../../core/object-ref.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { announceChanged } from "../announce-changed.ts";
import { pushedAt } from "../source/pushed-at.ts";
import { type Attempt, StepFailed, step } from "./attempt.ts";
import type { KustomizationContext } from "./context.ts";
import type { GuardedRevision } from "./plan.ts";
import { showing } from "./status.ts";

/** A revision whose objects are applied, as far as possible now. */
export interface AppliedRevision extends GuardedRevision {
  readonly inventory: readonly InventoryEntry[];
  /** What has to be ready or gone before the rest can be applied, or before the revision counts as applied. */
  readonly pending: Pending | undefined;
  /** Whether nothing is pruned yet, since not everything is applied. */
  readonly isPartial: boolean;
}

/** Applies the plan, stage by stage. The inventory is saved before a failure is reported. */
export const apply = step(async (revision: GuardedRevision, attempt: Attempt): Promise<AppliedRevision> => {
  const { ahead, planned, set } = revision;
  const { ctx } = attempt;
  const { signal } = ctx.run;
  const outcome = await applyAll(
    planned.plan.objects,
    { ...planned.applyDeps, healthRules: attempt.healthRules },
    signal,
  );
  const { applied } = outcome;
  countApplied(applied, ctx);
  if (outcome.kind === "applied") measurePush(attempt);
  logSkippedApplies(applied, planned.live, ctx);
  warnOfLeftOut(applied, attempt);
  warnOfContest(applied, revision, attempt);
  if (ctx.told.marks().length > 0 || applied.some(({ desired }) => isFluxGroup(desired.ref.group))) {
    const { warnOfUnreconciled } = await import("./unreconciled-objects.ts");
    await warnOfUnreconciled(applied, outcome.kind === "applied", attempt);
  }
  const inventory = withApplied(ahead, applied);
  const reached = { ...revision, applied, inventory, status: showing(inventory, ctx) };
  if (outcome.kind !== "applied") await saveIfChanged(ahead, inventory, set, signal);
  // A failure quotes them. Before the prune: if that fails, a later run finds these objects unchanged and has nothing to report.
  if (outcome.kind !== "failed") recordLines(changeLines(applied), attempt);
  if (ctx.remote === undefined) await announceChanged(applied, ctx.run.key.cluster, ctx.deps, signal);
  switch (outcome.kind) {
    case "failed":
      throw new StepFailed(
        new Failure("ReconciliationFailed", linesOf([outcome.message, ...changeLines(applied)])),
        reached,
      );
    case "waiting":
      return { ...reached, pending: { why: outcome.why, on: outcome.on }, isPartial: true };
    case "applied":
      return { ...reached, pending: terminating(applied, ctx), isPartial: false };
  }
});

/** Objects that are being deleted although they are wanted. With `wait` it is not healthy, which says the same in Flux's words. */
function terminating(applied: readonly AppliedObject[], { kustomization }: KustomizationContext): Pending | undefined {
  const why = kustomization.spec.wait ? undefined : terminatingText(applied);
  return why === undefined ? undefined : { why, on: "deletion" };
}

/** Records what a step has changed as one event of Flux's. */
export function recordLines(lines: readonly string[], { ctx, annotations }: Attempt): void {
  if (lines.length === 0) return;
  ctx.record({ type: "Normal", reason: "Progressing", message: lines.join("\n"), annotations });
}

/** `<subject> created` and `<subject> configured`, in apply order: Flux's change event. */
export function changeLines(applied: readonly AppliedObject[]): readonly string[] {
  return applied
    .filter(({ change }) => change === "created" || change === "configured")
    .map(({ desired, change }) => `${subject(desired.ref)} ${change}`);
}

function countApplied(applied: readonly AppliedObject[], { deps, run }: KustomizationContext): void {
  const changed = applied.filter(({ change }) => change === "created" || change === "configured");
  if (changed.length > 0) deps.metrics.record(run.key, { ObjectsApplied: changed.length });
}

/** The first run that has applied a new revision records how long that took since its push. */
function measurePush({ ctx, isNew, source }: Attempt): void {
  const { lastAppliedRevision } = ctx.kustomization.status;
  if (!isNew || lastAppliedRevision === undefined || lastAppliedRevision === source.revision) return;
  const pushed = pushedAt(source.artifact);
  if (pushed === undefined) return;
  const tookMs = Math.max(0, ctx.deps.clock.now() - pushed);
  ctx.deps.metrics.record(ctx.run.key, { PushToApplied: tookMs }, { revision: source.revision });
}

const maxNamed = 10;

/** Logs which objects an apply has left alone and why: Flux's events do not name them. */
function logSkippedApplies(applied: readonly AppliedObject[], live: LiveObjects, ctx: KustomizationContext): void {
  const skipped = applied.flatMap(({ desired: { id, manifest, ref }, change }) =>
    change === "skipped" ? [{ object: subject(ref), why: skippedBy(manifest.metadata, live.get(id)?.metadata) }] : [],
  );
  logSkipped("objects not applied", skipped, ctx);
}

export function logSkipped(message: string, skipped: readonly object[], { deps, run }: KustomizationContext): void {
  if (skipped.length === 0) return;
  deps.log.info(message, { ...run.key, count: skipped.length, objects: skipped.slice(0, maxNamed) });
}

/**
 * Warns of objects that another owner has applied since this one did. It warns only in periodic runs: a push or a request may settle
 * the contest, and its events stay those of Flux. A handover is not a conflict: the former owner does not want the object, or the
 * next one has not applied it yet.
 */
function warnOfContest(
  applied: readonly AppliedObject[],
  { known, planned }: GuardedRevision,
  { ctx, annotations }: Attempt,
): void {
  if (ctx.run.isRequested) return;
  const written = new Set(applied.flatMap(({ desired: { id }, change }) => (change === "configured" ? [id] : [])));
  const before = new Set(known.entries.flatMap(({ id, state, desired }) => (state === "live" && desired ? [id] : [])));
  const names = planned.plan.objects.flatMap(({ desired: { id, ref }, change }) => {
    if (change.kind !== "configure" || change.labelled === undefined) return [];
    if (!before.has(id) || !written.has(id)) return [];
    const { name, namespace } = change.labelled;
    // commonMetadata may overwrite the labels of the owner: what we have applied before is not another's.
    if (name === ctx.run.key.name && namespace === ctx.run.key.namespace) return [];
    return [`${subject(ref)} was applied by ${ctx.run.key.kind}/${namespace}/${name}`];
  });
  if (names.length === 0) return;
  const message =
    `${someOf(names, maxNamed)} since the last apply of this Kustomization, and is now applied again: where two have the ` +
    "same object, they write it by turns, each at its own interval. Take it out of one of them";
  ctx.record({ type: "Warning", reason: "ObjectContested", message, annotations });
}

/**
 * Reports the fields that were left out of these objects since the API server does not know them, once a revision. A run that waits
 * for a stage continues to apply, so each of its runs reports its applied objects. An object that is proven unchanged is not sent, so
 * nothing is reported twice.
 */
function warnOfLeftOut(applied: readonly AppliedObject[], { ctx, annotations, isNew, leftOut, wait }: Attempt): void {
  if (!isNew && wait?.phase !== "apply") return;
  const names = applied.flatMap(({ desired }) => {
    const name = subject(desired.ref);
    // The API server names them in any order.
    return [...(leftOut.get(name) ?? [])].toSorted().map((field) => `${name} ${field}`);
  });
  if (names.length === 0) return;
  const message = `fields that the API server does not know were left out: ${someOf(names, maxNamed)}`;
  ctx.record({ type: "Warning", reason: "UnknownFields", message, annotations });
}
