import { applyAll } from "../../../apply/apply-all.ts";
import {
  type KnownInventory,
  knownInventory,
  saveIfChanged,
  withApplied,
  writeAhead,
} from "../../../apply/inventory.ts";
import { isImmutable } from "../../../apply/refusals.ts";
import type { RefusedObject } from "../../../apply/plan-objects.ts";
import { type PlannedSet, PlanRefused, planSet } from "../../../apply/plan-set.ts";
import { helmReleaseStyle } from "../../../apply/set/owner-style.ts";
import { prune } from "../../../apply/prune/prune.ts";
import { newlyDeleted } from "../../../apply/prune/pruned.ts";
import type { ApplySet } from "../../../apply/set/apply-set.ts";
import { formatEntryId } from "../../../apply/set/entry-id.ts";
import { mapLimit } from "../../../core/concurrency.ts";
import { Failure } from "../../../core/failure.ts";
import { ApiError } from "../../../core/ports/cluster.ts";
import type { ObservedRelease } from "../../../core/ports/helm-engine.ts";
import { announceChanged, announceDeleted } from "../../announce-changed.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";
import { unservedText } from "./hook-object.ts";
import { type ReleaseObject, releaseObjects } from "./release-objects.ts";
import { releaseSet } from "./release-set.ts";

/** The objects of a revision, planned. */
export interface PlannedObjects {
  readonly set: ApplySet;
  readonly known: KnownInventory;
  readonly planned: PlannedSet;
}

/** Why objects cannot be applied. `isBuild`: wrong kinds or missing rights, which Helm meets before it stores anything. */
export interface RefusedObjects {
  readonly kind: "refused";
  readonly isBuild: boolean;
  readonly message: string;
}

/**
 * Plans the objects of a revision: every object that the API server would refuse is found before the first write.
 *
 * @param former the release's manifest until now: objects that it no longer has are pruned
 * @param isAwaited an earlier run has applied them and waits for their health
 * @param action for Helm's words, which differ
 */
export async function planObjects(
  observed: Pick<ObservedRelease, "name" | "namespace" | "objects">,
  former: ObservedRelease | undefined,
  { ctx }: Pick<ReleaseAttempt, "ctx">,
  isAwaited: boolean,
  action: "install" | "rollback" | "upgrade",
): Promise<PlannedObjects | RefusedObjects> {
  const set = releaseSet(ctx);
  const objects = await releaseObjects(observed, ctx);
  const known = await inventoryOf(former, set, { ctx });
  const wanted = {
    manifests: objects.map(({ manifest }) => manifest),
    ignore: [],
    inventory: known.entries,
    force: false,
    policy: "prune",
    isAwaited,
    isLook: isAwaited,
  } as const;
  try {
    return { set, known, planned: await planSet(wanted, set, ctx.run.signal) };
  } catch (error) {
    if (error instanceof PlanRefused) return refusedByPlan(error, former !== undefined, ctx);
    // A kind that the cluster does not serve, or two objects of one name.
    if (error instanceof Failure && error.reason === "ReconciliationFailed") {
      const why = unservedTexts(observed.objects, objects, error.message) ?? error.message.trim();
      return { kind: "refused", isBuild: true, message: buildFailed[action](why) };
    }
    throw error;
  }
}

/** Helm's words for a manifest that cannot be built (pkg/action/install.go, upgrade.go and rollback.go). */
const buildFailed = {
  install: (why: string) => `unable to build kubernetes objects from release manifest: ${why}`,
  upgrade: (why: string) => why,
  rollback: (why: string) => `unable to build kubernetes objects from new release manifest: ${why}`,
} as const;

/** In Helm's words, if all that is wrong are kinds that the cluster does not serve; undefined otherwise. */
function unservedTexts(
  rendered: ObservedRelease["objects"],
  objects: readonly ReleaseObject[],
  problems: string,
): string | undefined {
  const unserved = objects.flatMap(({ manifest, resource }, index) => {
    const about = `no matches for kind "${manifest.kind}" in version "${manifest.apiVersion}"`;
    // A definition in the chart's own templates may bring the kind: then it is no problem.
    const isProblem = resource === undefined && problems.includes(about);
    return isProblem ? [unservedText(rendered[index]?.manifest ?? manifest)] : [];
  });
  if (unserved.length === 0 || unserved.length < problems.trim().split("\n").length) return undefined;
  return unserved.length === 1 ? unserved[0] : `[${unserved.join(", ")}]`;
}

/** In Helm's words, the first object first; the others follow, since all of them have to be corrected. */
async function refusedByPlan(
  { objects, prunes }: PlanRefused,
  isUpgrade: boolean,
  { deps, run, target }: Pick<HelmReleaseContext, "deps" | "run" | "target">,
): Promise<RefusedObjects> {
  const isForbidden = objects.some(({ error }) => error?.reason === "Forbidden");
  const line = async ({ error, message, ref }: RefusedObject, stop: AbortSignal): Promise<string> => {
    if (error === undefined) return message;
    const { group, version, kind, namespace, name } = ref;
    const gvk = `${group}/${version}, Kind=${kind}`;
    const mend = isImmutable(error) ? `; ${helmReleaseStyle.toRecreate}` : "";
    const text = `server-side apply failed for object ${namespace}/${name} ${gvk}: ${error.message}${mend}`;
    if (!isUpgrade) return text;
    // Helm looks whether the object exists before it applies it.
    try {
      return (await target.get(ref, stop)) === undefined ? `failed to create resource: ${text}` : text;
    } catch (unread) {
      if (!(unread instanceof ApiError) || unread.reason !== "Forbidden") throw unread;
      return `could not get information about the resource: ${unread.message}`;
    }
  };
  const lines = await mapLimit(objects, deps.concurrency, line, run.signal);
  return { kind: "refused", isBuild: isForbidden && prunes.length === 0, message: [...lines, ...prunes].join("; ") };
}

/**
 * The release's objects, as far as known before the action: Sluice's inventory, and further ones in the manifest of the former
 * revision, as after a takeover. Objects of `crds/` are in neither: nothing deletes them.
 */
async function inventoryOf(
  former: ObservedRelease | undefined,
  set: ApplySet,
  { ctx }: Pick<ReleaseAttempt, "ctx">,
): Promise<KnownInventory> {
  const shown = former === undefined ? [] : await releaseObjects(former, ctx);
  const entries = shown.map(({ ref }) => ({ id: formatEntryId(ref), v: ref.version }));
  const own = { status: { inventory: { entries } }, generation: ctx.generation, isFinalizing: false };
  const warn = async (reason: "InventoryOutdated" | "TargetChanged", message: string): Promise<void> => {
    ctx.deps.log.warn(message, { ...ctx.run.key });
    ctx.record({ type: "Warning", reason, message, annotations: {} });
  };
  const report = {
    unreadable: (message: string) => ctx.deps.log.warn(message, { ...ctx.run.key }),
    outdated: (message: string) => warn("InventoryOutdated", message),
    leftElsewhere: (message: string) => warn("TargetChanged", message),
  };
  return knownInventory(own, report, set, ctx.run.signal);
}

/** How the apply of a plan has ended. */
export type AppliedObjects =
  | { readonly kind: "applied" }
  | { readonly kind: "waiting"; readonly why: string }
  | { readonly kind: "failed"; readonly message: string };

/** Applies a plan: inventory and claims are written first, and unwanted objects are deleted after everything is applied. */
export async function applyPlanned(
  { known, planned, set }: PlannedObjects,
  { ctx, healthRules }: Pick<ReleaseAttempt, "ctx" | "healthRules">,
): Promise<AppliedObjects> {
  const { signal } = ctx.run;
  const ahead = await writeAhead(known, planned.desired, set, signal);
  const outcome = await applyAll(planned.plan.objects, { ...planned.applyDeps, healthRules }, signal);
  const inventory = withApplied(ahead, outcome.applied);
  if (outcome.kind !== "applied") await saveIfChanged(ahead, inventory, set, signal);
  if (ctx.remote === undefined) await announceChanged(outcome.applied, ctx.run.key.cluster, ctx.deps, signal);
  if (outcome.kind !== "applied") {
    return outcome.kind === "waiting"
      ? { kind: "waiting", why: outcome.why }
      : { kind: "failed", message: outcome.message };
  }
  const order = { ...planned.pruneTask, inventory, planned: planned.plan.prune, saved: ahead };
  const { pruned, refusals } = await prune(order, set, signal);
  if (ctx.remote === undefined) await announceDeleted(newlyDeleted(pruned), ctx.run.key.cluster, ctx.deps, signal);
  const refused = [...refusals, ...pruned.flatMap((one) => (one.kind === "refused" ? [one.message] : []))];
  if (refused.length > 0) return { kind: "failed", message: refused.join("; ") };
  return { kind: "applied" };
}

/** The content of `status.inventory` for a revision: its objects, and everything in `crds/` (reference helmrelease 3). */
export async function shownInventory(
  observed: Pick<ObservedRelease, "name" | "namespace" | "objects">,
  crds: readonly {
    readonly manifest: {
      readonly apiVersion: string;
      readonly kind: string;
      readonly metadata: { readonly name: string };
    };
  }[],
  { ctx }: Pick<ReleaseAttempt, "ctx">,
): Promise<readonly { readonly id: string; readonly v: string }[]> {
  const objects = await releaseObjects(observed, ctx);
  const shown = objects.map(({ ref }) => ({ id: formatEntryId(ref), v: ref.version }));
  const definitions = crds.map(({ manifest: { apiVersion, kind, metadata } }) => {
    const [group = "", version = ""] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    return { id: formatEntryId({ group, kind, namespace: "", name: metadata.name }), v: version };
  });
  return [...shown, ...definitions];
}
