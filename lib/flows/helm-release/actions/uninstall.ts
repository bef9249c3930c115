import { formatEntryId } from "../../../apply/set/entry-id.ts";
import { helmReleaseStyle } from "../../../apply/set/owner-style.ts";
import { refOf } from "../../../core/manifest.ts";
import { subject } from "../../../core/object-ref.ts";
import type { InventoryEntry } from "../../../core/ports/inventory-store.ts";
import type { RevisionHead, StoredRevision } from "../../../helm/release-store.ts";
import { isElsewhere } from "../../owner/elsewhere.ts";
import type { ActionOutcome, ActionWait, UninstallOrder, WrittenRevision } from "../attempt/action.ts";
import {
  alsoInInventory,
  type DeletedObject,
  type DeletionOrder,
  deleteObjects,
  notGone,
  type ObjectToDelete,
} from "./delete-objects.ts";
import { type HooksOutcome, runHooks } from "./hooks.ts";
import { releaseObjects } from "./release-objects.ts";
import { type RevisionWriter, revise } from "./revise.ts";
import { timeoutMsOf } from "./timeouts.ts";
import { looked, lookNow, terminationLookMs, waitFor } from "./wait.ts";

/** Helm's error where no revision is stored: for Flux no failure. */
export const releaseNotFound = "release: not found";

/** Helm's error where the last revision is uninstalled and the history is to be kept: for Flux no failure. */
export function alreadyDeleted(releaseName: string): string {
  return `the release named "${releaseName}" is already deleted`;
}

/**
 * Uninstalls a release as Helm does (pkg/action/uninstall.go): hooks, objects in reverse order, the wait until they are gone, hooks,
 * and the revisions or, with `keepHistory`, their status. The last revision says how far it has come, so that a run goes on where
 * another was stopped. Also deletes further objects of the inventory; without a stored revision, all of them. In a cluster that it
 * was not installed in it deletes nothing.
 */
export async function uninstallRelease(order: UninstallOrder, wait: ActionWait | undefined): Promise<ActionOutcome> {
  const { ctx, releaseName, store } = order;
  const { keepHistory = false } = ctx.release.spec.uninstall ?? {};
  // An object of this name belongs to another release.
  if (order.reason !== "remediation" && (await isElsewhere(ctx))) return failed(releaseNotFound, [], []);
  const heads = await store.heads(ctx.run.signal);
  const [latest] = heads;
  const last = latest && (await store.read(latest.version, ociDigestOf(latest, order), ctx.run.signal));
  if (last === undefined) {
    const { deleted, inventory } = await deleteAll(order, undefined);
    await forget(deleted, inventory, order);
    const refused = refusalsIn(deleted);
    if (refused.length > 0) return failed(`failed to delete release: ${releaseName}`, refused, []);
    return failed(releaseNotFound, [], []);
  }
  if (last.status === "uninstalled") {
    if (keepHistory) return failed(alreadyDeleted(releaseName), [], []);
    await purge(heads, order);
    return { kind: "succeeded", written: [{ record: last, isGone: true }] };
  }
  return goOn(order, await underway(order, last), heads, wait);
}

function failed(message: string, log: readonly string[], written: readonly WrittenRevision[]): ActionOutcome {
  return { kind: "failed", message, log, written };
}

/** The last revision as `uninstalling` under our mark, as an earlier run of this uninstall has left it, or as this one writes it. */
async function underway(order: UninstallOrder, last: StoredRevision): Promise<StoredRevision> {
  const { ctx } = order;
  const { mark, status } = last;
  if (status === "uninstalling" && mark?.action === "uninstall" && mark.owner === ctx.owner.uid) return last;
  const change = {
    status: "uninstalling",
    deleted: new Date(ctx.deps.clock.now()).toISOString(),
    description: "Deletion in progress (or silently failed)",
  } as const;
  const begun = { owner: ctx.owner.uid, action: "uninstall", generation: ctx.generation, token: "" } as const;
  return revise(writerOf(last, order), last, change, begun);
}

/** As the status has it for this revision: it is a part of the digest of a snapshot. */
function ociDigestOf({ version }: Pick<RevisionHead, "version">, { ctx }: UninstallOrder): string {
  return ctx.status().history?.find((snapshot) => snapshot.version === version)?.ociDigest ?? "";
}

function writerOf(revision: Pick<RevisionHead, "version">, order: UninstallOrder): RevisionWriter {
  const { ctx, store } = order;
  return { ctx, store, ociDigest: ociDigestOf(revision, order) };
}

async function goOn(
  order: UninstallOrder,
  begun: StoredRevision,
  heads: readonly RevisionHead[],
  wait: ActionWait | undefined,
): Promise<ActionOutcome> {
  const { ctx, releaseName } = order;
  const before = await hooksOf("pre-delete", begun, order, wait);
  if (before.kind === "waiting") return waiting(before);
  if (before.kind === "failed") return giveUp(before.message, [], before.stored, order);
  const { deleted, inventory } = await deleteAll(order, before.stored);
  const refused = refusalsIn(deleted);
  if (refused.length > 0) {
    await forget(deleted, inventory, order);
    return giveUp(`failed to delete release: ${releaseName}`, refused, before.stored, order);
  }
  const errors: string[] = [];
  const end = await termination(deleted, before.stored, order, wait);
  if (end?.kind === "waiting") return end;
  if (end !== undefined) errors.push(end.message);
  const after = await hooksOf("post-delete", before.stored, order, wait);
  if (after.kind === "waiting") return waiting(after);
  if (after.kind === "failed") errors.push(after.message);
  await forget(deleted, inventory, order);
  const written = await finish(after.stored, heads, order);
  if (errors.length === 0) return { kind: "succeeded", written };
  const log = ctx.release.spec.uninstall?.keepHistory === true ? [] : [`purge requested: {"release":"${releaseName}"}`];
  return failed(`uninstallation completed with ${errors.length} error(s): ${errors.join("; ")}`, log, written);
}

function waiting({ wait, dueInMs }: Extract<HooksOutcome, { kind: "waiting" }>): ActionOutcome {
  return { kind: "waiting", wait, dueInMs };
}

async function hooksOf(
  event: "post-delete" | "pre-delete",
  stored: StoredRevision,
  order: UninstallOrder,
  wait: ActionWait | undefined,
): Promise<HooksOutcome> {
  const { ctx, healthRules } = order;
  if (ctx.release.spec.uninstall?.disableHooks === true) return { kind: "done", stored };
  const releaseNamespace = stored.observed.namespace;
  const runner = {
    ...writerOf(stored, order),
    releaseNamespace,
    timeoutMs: timeoutMsOf("uninstall", ctx),
    healthRules,
  };
  return runHooks(runner, event, stored, wait);
}

/** The revision stays `uninstalling`; the next try begins again, with its hooks. */
async function giveUp(
  message: string,
  log: readonly string[],
  stored: StoredRevision,
  order: UninstallOrder,
): Promise<ActionOutcome> {
  const record = await revise(writerOf(stored, order), stored, {}, undefined);
  return failed(message, log, [{ record, isGone: false }]);
}

interface Deleted {
  readonly deleted: readonly DeletedObject[];
  /** As last saved; undefined if there is none. */
  readonly inventory: readonly InventoryEntry[] | undefined;
}

/** Deletes the objects of the manifest, and further ones in the inventory. Objects that are already deleted stay deleted. */
async function deleteAll(order: UninstallOrder, stored: StoredRevision | undefined): Promise<Deleted> {
  const { ctx, releaseName, releaseNamespace } = order;
  const inventory = await ctx.deps.inventories.load(ctx.owner, ctx.run.fence, ctx.run.signal);
  const entries = new Map((inventory ?? []).map((entry) => [entry.id, entry]));
  const objects = stored === undefined ? [] : await releaseObjects(stored.observed, ctx);
  const ofManifest = objects
    .filter(({ resource }) => resource !== undefined)
    .map(({ manifest, ref }): ObjectToDelete => {
      const entry = entries.get(formatEntryId(ref));
      const mark = helmReleaseStyle.optOuts.keptBy(manifest.metadata);
      const retained = entry?.state === "retained" ? "kept when it left the release" : undefined;
      const keptBy = mark === undefined ? retained : `${mark} in the manifest`;
      return { ref: refOf(manifest), version: ref.version, uid: entry?.uid, keptBy };
    });
  const release = { name: releaseName, namespace: stored?.observed.namespace ?? releaseNamespace };
  const deletion: DeletionOrder = { ctx, release, propagation: propagationOf(order) };
  const all = [...ofManifest, ...alsoInInventory(ofManifest, inventory ?? [])];
  return { deleted: await deleteObjects(all, deletion), inventory };
}

function propagationOf({ ctx }: UninstallOrder): DeletionOrder["propagation"] {
  switch (ctx.release.spec.uninstall?.deletionPropagation) {
    case "foreground":
      return "Foreground";
    case "orphan":
      return "Orphan";
    case "background":
    case undefined:
      return "Background";
  }
}

function refusalsIn(deleted: readonly DeletedObject[]): readonly string[] {
  return deleted.flatMap((one) => (one.kind === "refused" ? [one.message] : []));
}

/**
 * The wait until the objects are gone; undefined when they are gone, or if no wait is wanted. Once the last hooks have begun it is over.
 */
async function termination(
  deleted: readonly DeletedObject[],
  stored: StoredRevision,
  { ctx }: UninstallOrder,
  carried: ActionWait | undefined,
): Promise<
  Extract<ActionOutcome, { kind: "waiting" }> | { readonly kind: "over"; readonly message: string } | undefined
> {
  if (ctx.release.spec.uninstall?.disableWait === true) return undefined;
  const wait = waitFor("deletion", carried, ctx.deps.clock.now());
  let left = await notGone(deleted, ctx);
  const isOver = stored.mark?.hooks === "post-delete";
  if (left.length > 0 && !isOver) {
    const look = async () => {
      left = await notGone(deleted, ctx);
      return left.length === 0 ? true : undefined;
    };
    await lookNow(look, wait, ctx);
  }
  const [first] = left;
  if (first === undefined) return undefined;
  if (!isOver && ctx.deps.clock.now() - wait.since < timeoutMsOf("uninstall", ctx)) {
    return { kind: "waiting", wait: looked(wait), dueInMs: terminationLookMs };
  }
  return { kind: "over", message: `${subject(first)} termination timeout: context deadline exceeded` };
}

/** Removes all revisions, or marks what has become of them. */
async function finish(
  stored: StoredRevision,
  heads: readonly RevisionHead[],
  order: UninstallOrder,
): Promise<readonly WrittenRevision[]> {
  const { ctx, store } = order;
  const { signal } = ctx.run;
  const others = heads.filter(({ version }) => version !== stored.version);
  if (ctx.release.spec.uninstall?.keepHistory !== true) {
    await purge([stored, ...others], order);
    return [{ record: stored, isGone: true }];
  }
  const superseded: WrittenRevision[] = [];
  for (const { version } of others.filter(({ status }) => status === "deployed")) {
    const former = await store.read(version, ociDigestOf({ version }, order), signal);
    if (former === undefined) continue;
    const record = await revise(writerOf(former, order), former, { status: "superseded" }, undefined);
    superseded.push({ record, isGone: false });
  }
  const change = { status: "uninstalled", description: "Uninstallation complete" } as const;
  return [{ record: await revise(writerOf(stored, order), stored, change, undefined), isGone: false }, ...superseded];
}

/** The latest one last: while it exists, an interrupted run can continue. */
async function purge(heads: readonly RevisionHead[], { ctx, store }: UninstallOrder): Promise<void> {
  for (const head of heads.toSorted((a, b) => a.version - b.version)) await store.remove(head, ctx.run.signal);
}

/**
 * The inventory without the deleted objects. Protected objects stay in it and are never deleted; objects of another owner are removed from
 * it. Claims end first, so that the next owner of an object may take it. An event names the namespaces and definitions that stay.
 */
async function forget(
  deleted: readonly DeletedObject[],
  inventory: readonly InventoryEntry[] | undefined,
  { ctx }: UninstallOrder,
): Promise<void> {
  const { deps, owner, run } = ctx;
  for (const one of deleted) {
    if (one.kind !== "held") continue;
    const message = `${subject(one.ref)} not deleted: ${one.why}`;
    ctx.record({ type: "Warning", reason: "PruneFailed", message, annotations: {} });
    deps.log.warn("a namespace or definition stays after the uninstall", { ...run.key, object: subject(one.ref) });
  }
  if (inventory === undefined) return;
  const outcomes = new Map(deleted.map((one) => [formatEntryId(one.ref), one]));
  const left = inventory.flatMap((entry): readonly InventoryEntry[] => {
    const outcome = outcomes.get(entry.id);
    if (outcome === undefined || outcome.kind === "refused") return [entry];
    const isRetained = outcome.kind === "held" || (outcome.kind === "kept" && outcome.isOurs);
    return isRetained ? [{ ...entry, state: "retained" }] : [];
  });
  const ids = new Set(left.map(({ id }) => id));
  const over = inventory.flatMap(({ id }) => (ids.has(id) ? [] : [id]));
  await deps.ledger.release(owner.clusterUid, owner.uid, over, run.fence, run.signal);
  await deps.inventories.save(owner, left, run.fence, run.signal);
}
