import { ownerLabels } from "../../api/owner-labels.ts";
import { messageOf } from "../../core/failure.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { subject } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { fieldManager } from "../field-managers.ts";
import { judgedOnly, maxLooks } from "../judged-only.ts";
import { isOwnedBy } from "../opt-outs.ts";
import { type ApplySet, ownerOfClaim } from "./apply-set.ts";
import type { Judged, PruneDecision } from "./decisions.ts";
import type { Claimant, PruneFacts } from "./facts.ts";
import { claimantsOf } from "./gather-facts.ts";
import type { Pruned } from "./pruned.ts";

/**
 * Does what was decided, to the object that was judged and to no other or later state of it. Undefined where the object has
 * changed meanwhile and has to be decided anew.
 *
 * @param isLastLook it was decided anew often enough: a conflict is reported like any other refusal
 */
export async function carryOut(
  decision: PruneDecision,
  { isLeaving }: Pick<PruneFacts, "isLeaving">,
  isLastLook: boolean,
  set: ApplySet,
  signal: AbortSignal,
): Promise<Pruned | undefined> {
  const { entry, kind } = decision;
  switch (kind) {
    case "gone":
      return { kind: "deleted", entry, held: false };
    case "keep":
      return { kind: "skipped", entry, why: decision.why, isMarked: decision.isRetained };
    case "unknown":
    case "refuse":
      return { kind: "refused", entry, message: decision.line };
    case "handOver": {
      const { claimant } = decision.to;
      if (!isLeaving || claimant === undefined) return { kind: "pending", entry, why: decision.why };
      return handOverNow(entry, decision.judged, claimant, isLastLook, set, signal);
    }
    case "delete":
      if (decision.isGoing) return { kind: "deleted", entry, held: true };
      return deleteJudged(entry, decision.judged, isLastLook, set, signal);
  }
}

async function deleteJudged(
  entry: InventoryEntry,
  { ref, metadata }: Judged,
  isLastLook: boolean,
  { cluster }: ApplySet,
  signal: AbortSignal,
): Promise<Pruned | undefined> {
  try {
    const outcome = await cluster.delete(ref, judgedOnly(metadata), signal);
    return { kind: "deleted", entry, held: outcome === "deleting" };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason === "Conflict" && !isLastLook) return undefined;
    return { kind: "refused", entry, message: `${subject(ref)} delete failed: ${messageOf(error)}` };
  }
}

/**
 * An owner that leaves cannot wait until its heir has applied the object: it puts the heir's labels on it itself, so that the
 * heir deletes it once it no longer wants it. We write the labels and then read the claim; an heir that lets go ends its claim
 * and then reads the labels. So at least one of the two sees the other. Where the heir has let go, the object stays ours.
 */
async function handOverNow(
  entry: InventoryEntry,
  { ref, metadata }: Judged,
  heir: Claimant,
  isLastLook: boolean,
  set: ApplySet,
  signal: AbortSignal,
): Promise<Pruned | undefined> {
  const skipped = { kind: "skipped", entry, isMarked: false } as const;
  const by = ownerOfClaim(heir.owner);
  try {
    const labelled = await label({ ref, metadata }, by, set, signal);
    const claimants = (await claimantsOf([entry], set, signal)).get(entry.id) ?? [];
    const isClaimed = claimants.some(({ uid, standing }) => uid === heir.uid && standing === "alive");
    if (isClaimed) return { ...skipped, why: `${heir.owner} has it now` };
    await takeBack({ ref, metadata: labelled.metadata }, by, set, signal);
    const message = `${subject(ref)} hand over failed: ${heir.owner} lets go of it time and again`;
    return isLastLook ? { kind: "refused", entry, message } : undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const isChanged = error.reason === "NotFound" || error.reason === "Conflict";
    if (isChanged && !isLastLook) return undefined;
    // Without our entry no run would look at it again.
    if (isChanged || isPassing(error)) {
      return { kind: "refused", entry, message: `${subject(ref)} hand over failed: ${messageOf(error)}` };
    }
    return { ...skipped, why: `${heir.owner} claims it, and its labels could not be put on it: ${messageOf(error)}` };
  }
}

interface Named {
  readonly name: string;
  readonly namespace: string;
}

/** Puts these owner labels on the object, in the state that was judged. */
async function label(
  { ref, metadata: { resourceVersion } }: Judged,
  owner: Named,
  { cluster }: ApplySet,
  signal: AbortSignal,
): Promise<LiveObject> {
  const body = { metadata: { labels: ownerLabels(owner), ...(resourceVersion && { resourceVersion }) } };
  return cluster.patch(ref, { type: "merge", body }, { manager: fieldManager }, signal);
}

/**
 * Puts our labels back on an object that carries those of an heir which does not know of it, also while other clients write
 * it: with the heir's labels it would belong to no owner.
 */
async function takeBack(given: Judged, heir: Named, set: ApplySet, signal: AbortSignal): Promise<void> {
  const { ref } = given;
  let { metadata } = given;
  for (let look = 1; ; look++) {
    try {
      await label({ ref, metadata }, set, set, signal);
      return;
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === "Conflict") || look === maxLooks) throw error;
    }
    const found = await set.cluster.get(ref, signal);
    if (found === undefined || found.metadata.uid !== given.metadata.uid || !isOwnedBy(found.metadata, heir)) return;
    metadata = found.metadata;
  }
}

/** A fault that may be gone in the next run: no answer, a server that throttles or fails. */
function isPassing({ code }: ApiError): boolean {
  return code === 0 || code === 429 || code >= 500;
}
