import { ApiError } from "../../core/ports/cluster.ts";
import type { ApplySet } from "../set/apply-set.ts";
import { parseEntryId } from "../set/entry-id.ts";
import { isOwnedBy } from "../set/opt-outs.ts";
import type { PruneDecision } from "./decisions.ts";
import type { Claimant } from "./facts.ts";

/**
 * Ends our claims on objects that are gone or not ours to delete, and wakes the owners that may wait for that: an owner keeps an unwanted
 * object while another live owner claims it.
 *
 * Returns the ids of objects that are ours after all, and claims them again: an owner that is being deleted hands its objects over to an
 * owner that claims them, and may have done so right before our claim ended.
 */
export async function release(
  over: readonly PruneDecision[],
  set: ApplySet,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (over.length === 0) return new Set();
  const { fence, ledger, others, owner } = set;
  const ids = over.map(({ entry }) => entry.id);
  await ledger.release(owner.clusterUid, owner.uid, ids, fence, signal);
  const returned = await returnedToUs(over, set, signal);
  if (returned.size > 0) {
    const claims = [...returned].map((id) => ({ id, ownerUid: owner.uid, owner: set.claimName }));
    await ledger.claim(owner.clusterUid, claims, fence, signal);
  }
  const isAwaited = over.some((decision) => {
    return decision.kind === "keep" && decision.isAwaited && !returned.has(decision.entry.id);
  });
  if (isAwaited) await others.announceRelease(signal);
  return returned;
}

async function returnedToUs(
  over: readonly PruneDecision[],
  set: ApplySet,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const returned = new Set<string>();
  const isStaying = new Map<string, boolean>();
  for (const decision of over) {
    if (decision.kind !== "keep" || decision.isRetained || !decision.hasOtherLabels) continue;
    const { labelled } = decision;
    const state = async ({ owner, uid }: Claimant) => set.others.stateOf({ owner, ownerUid: uid }, signal);
    const stays = labelled !== undefined && (isStaying.get(labelled.uid) ?? (await state(labelled)) === "alive");
    if (labelled !== undefined) isStaying.set(labelled.uid, stays);
    if (!stays && (await isOurs(decision.entry, set, signal))) returned.add(decision.entry.id);
  }
  return returned;
}

async function isOurs({ id, version }: PruneDecision["entry"], set: ApplySet, signal: AbortSignal): Promise<boolean> {
  try {
    return isOwnedBy((await set.cluster.get({ ...parseEntryId(id), version }, signal))?.metadata, set);
  } catch (error) {
    // If a kind is no longer served, it has no objects.
    if (error instanceof ApiError && error.reason === "NoMatch") return false;
    throw error;
  }
}
