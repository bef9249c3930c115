import { type LabelledName, ownerLabels } from "../../api/names.ts";
import { messageOf } from "../../core/failure.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { subject } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { type ApplySet, ownerOfClaim } from "../set/apply-set.ts";
import { giveUpFields } from "../set/give-up-fields.ts";
import { isOwnedBy } from "../set/opt-outs.ts";
import { maxLooks, preconditionsOf } from "../set/preconditions.ts";
import type { CheckedObject, KeepDecision, PruneDecision } from "./decisions.ts";
import type { Claimant, PruneFacts } from "./facts.ts";
import { claimantsOf } from "./gather-facts.ts";
import type { Pruned } from "./pruned.ts";

/**
 * Carries out a decision, with a precondition on the object that was checked. Undefined if the object has changed since: decide
 * again.
 *
 * @param isLastLook the limit of decisions is reached: a conflict is reported like any other refusal
 */
export async function carryOut(
  decision: PruneDecision,
  { isFinalizing }: Pick<PruneFacts, "isFinalizing">,
  isLastLook: boolean,
  set: ApplySet,
  signal: AbortSignal,
): Promise<Pruned | undefined> {
  const { entry, kind } = decision;
  switch (kind) {
    case "gone":
      return { kind: "deleted", entry, held: false };
    case "keep":
      if (decision.givesUp !== undefined) return giveUp(decision, decision.givesUp, isLastLook, set, signal);
      return { kind: "skipped", entry, why: decision.why, isMarked: decision.isRetained };
    case "unknown":
      if (decision.isDeleted === true) return { kind: "deleted", entry, held: true };
      return { kind: "refused", entry, message: decision.line };
    case "refuse":
      return { kind: "refused", entry, message: decision.line };
    case "handOver": {
      const { claimant, owner: to } = decision.to;
      const isAtOnce = isFinalizing || set.handsOverAtOnce === true;
      if (!isAtOnce || claimant === undefined) return { kind: "pending", entry, why: decision.why, to };
      return handOverNow(entry, decision.checked, claimant, isLastLook, set, signal);
    }
    case "delete":
      if (decision.isTerminating) return { kind: "deleted", entry, held: true };
      return deleteChecked(entry, decision.checked, isLastLook, set, signal);
  }
}

/** Removes what is ours alone of an object that another owner has applied. A refusal does not make it ours again. */
async function giveUp(
  { entry, why }: KeepDecision,
  { ref, metadata }: CheckedObject,
  isLastLook: boolean,
  set: ApplySet,
  signal: AbortSignal,
): Promise<Pruned | undefined> {
  try {
    await giveUpFields(ref, metadata, set, signal);
    return { kind: "skipped", entry, why, isMarked: false };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const isChanged = error.reason === "NotFound" || error.reason === "Conflict";
    if (isChanged && !isLastLook) return undefined;
    const message = `${subject(ref)} hand over failed: ${messageOf(error)}`;
    if (isChanged || isPassing(error)) return { kind: "refused", entry, message };
    return { kind: "skipped", entry, why: `${why}, and our labels stay on it: ${messageOf(error)}`, isMarked: false };
  }
}

async function deleteChecked(
  entry: InventoryEntry,
  { ref, metadata }: CheckedObject,
  isLastLook: boolean,
  { cluster }: ApplySet,
  signal: AbortSignal,
): Promise<Pruned | undefined> {
  try {
    const outcome = await cluster.delete(ref, preconditionsOf(metadata), signal);
    return { kind: "deleted", entry, held: outcome === "deleting" };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason === "Conflict" && !isLastLook) return undefined;
    return { kind: "refused", entry, message: `${subject(ref)} delete failed: ${messageOf(error)}` };
  }
}

/**
 * An owner that is being deleted cannot wait until the next owner has applied the object: it writes the next owner's labels itself, so that
 * the next owner can delete the object later. We write the labels and then read the claim; a next owner that releases the object ends its
 * claim and then reads the labels. So at least one of the two sees the other. If the next owner has released the object, it stays ours.
 */
async function handOverNow(
  entry: InventoryEntry,
  { ref, metadata }: CheckedObject,
  nextOwner: Claimant,
  isLastLook: boolean,
  set: ApplySet,
  signal: AbortSignal,
): Promise<Pruned | undefined> {
  const by = ownerOfClaim(nextOwner.owner);
  const skipped = (why: string): Pruned => ({ kind: "skipped", entry, isMarked: false, why });
  const refused = (why: string): Pruned => {
    return { kind: "refused", entry, message: `${subject(ref)} hand over failed: ${why}` };
  };
  let labelled: LiveObject;
  try {
    labelled = await label({ ref, metadata }, by, set, set, signal);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const isChanged = error.reason === "NotFound" || error.reason === "Conflict";
    if (isChanged && !isLastLook) return undefined;
    // Without our entry no run would look at it again.
    if (isChanged || isPassing(error)) return refused(messageOf(error));
    return skipped(`${nextOwner.owner} claims it, and its labels could not be put on it: ${messageOf(error)}`);
  }
  try {
    const claimants = (await claimantsOf([entry], set, signal)).get(entry.id) ?? [];
    const isClaimed = claimants.some(({ uid, state }) => uid === nextOwner.uid && state === "alive");
    if (isClaimed) return skipped(`${nextOwner.owner} has it now`);
    await takeBack({ ref, metadata: labelled.metadata }, by, set, signal);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason === "NotFound" && !isLastLook) return undefined;
    return refused(`it has the labels of ${nextOwner.owner}, which may no longer claim it: ${messageOf(error)}`);
  }
  return isLastLook ? refused(`${nextOwner.owner} releases it again and again`) : undefined;
}

/** Puts these owner labels on the object in place of the former ones, in the state that was checked. */
async function label(
  { ref, metadata: { resourceVersion } }: CheckedObject,
  owner: LabelledName,
  former: LabelledName,
  { cluster, rules }: ApplySet,
  signal: AbortSignal,
): Promise<LiveObject> {
  // Owners of the same kind use the same keys.
  const formerLabels = Object.fromEntries(Object.keys(ownerLabels(former)).map((key) => [key, null]));
  const labels = { ...formerLabels, ...ownerLabels(owner) };
  const body = { metadata: { labels, ...(resourceVersion && { resourceVersion }) } };
  return cluster.patch(ref, { type: "merge", body }, { manager: rules.style.manager }, signal);
}

/**
 * Restores our labels on an object with the labels of a next owner that no longer claims it, also while other clients write it:
 * with those labels it would belong to no owner.
 */
async function takeBack(
  given: CheckedObject,
  nextOwner: LabelledName,
  set: ApplySet,
  signal: AbortSignal,
): Promise<void> {
  const { ref } = given;
  let { metadata } = given;
  for (let look = 1; ; look++) {
    try {
      await label({ ref, metadata }, set, nextOwner, set, signal);
      return;
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === "Conflict") || look === maxLooks) throw error;
    }
    const found = await set.cluster.get(ref, signal);
    if (found === undefined || found.metadata.uid !== given.metadata.uid || !isOwnedBy(found.metadata, nextOwner))
      return;
    metadata = found.metadata;
  }
}

/** A temporary fault: no answer, a server that throttles or fails. */
function isPassing({ code }: ApiError): boolean {
  return code === 0 || code === 429 || code >= 500;
}
