import { helmGroup, kustomizeGroup } from "../../../api/names.ts";
import { usualRules } from "../../../apply/set/apply-rules.ts";
import type { ApplySet, OtherOwners, OwnerNearby } from "../../../apply/set/apply-set.ts";
import { readEntryId } from "../../../apply/set/entry-id.ts";
import { helmReleaseStyle } from "../../../apply/set/owner-style.ts";
import { isJsonObject } from "../../../core/json.ts";
import { type LiveObject, refOf } from "../../../core/manifest.ts";
import type { ObjectRef } from "../../../core/object-ref.ts";
import { ApiError } from "../../../core/ports/cluster.ts";
import { releaseTopic } from "../../../core/topics.ts";
import { isBeingDeletedWithObjects, keyOfClaim, stateOfOwner } from "../../owner/owner-state.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";

/** A HelmRelease as an owner of objects. */
export function releaseSet(ctx: HelmReleaseContext): ApplySet {
  const { deps, homeUid, name, namespace, owner, run, target } = ctx;
  const ref = `HelmRelease/${namespace}/${name}`;
  return {
    ...{ owner, name, namespace, labelGroup: helmGroup },
    claimName: homeUid === owner.clusterUid ? ref : `${ref}/${homeUid}`,
    cluster: target,
    inventories: deps.inventories,
    ledger: deps.ledger,
    fence: run.fence,
    clock: deps.clock,
    installationKey: deps.installationKey,
    concurrency: deps.concurrency,
    rules: { ...usualRules, style: helmReleaseStyle, overrideManagers: deps.applyRules.overrideManagers },
    others: otherOwners(ctx),
  };
}

function otherOwners(ctx: HelmReleaseContext): OtherOwners {
  const { deps, home, homeUid, name, namespace, owner, run } = ctx;
  const ownName = `${run.key.kind}/${namespace}/${name}`;
  return {
    stateOf: (claim, signal) => stateOfOwner(claim, { home, homeUid, targetUid: owner.clusterUid }, signal),
    ownersAround: async ({ isNear, mayCascade }, signal) => {
      return { expected: [], owners: mayCascade ? await ownersNear(isNear, ctx, signal) : [] };
    },
    wake: async (other, why, signal) => {
      await deps.requests.request(keyOfClaim(other, run.key.cluster), `${ownName} ${why}`, signal);
    },
    // The next owner's apply writes its labels; the next run at the interval finds them.
    subscribeTo: async () => {},
    announceRelease: async (signal) => {
      for (const subscriber of await deps.subscriptions.subscribers(releaseTopic(run.key), signal)) {
        await deps.requests.request(subscriber, `${ownName} has let go of objects`, signal);
      }
    },
  };
}

/** The owners at home, and which objects near ours they have by their status. */
async function ownersNear(
  isNear: (ref: ObjectRef) => boolean,
  { home, owner }: HelmReleaseContext,
  signal: AbortSignal,
): Promise<readonly OwnerNearby[]> {
  const kinds = [
    { group: kustomizeGroup, version: "v1", kind: "Kustomization" },
    { group: helmGroup, version: "v2", kind: "HelmRelease" },
  ];
  const all: LiveObject[] = [];
  for (const kind of kinds) {
    all.push(
      ...(await home.list(kind, signal).catch((error: unknown) => {
        if (error instanceof ApiError && error.reason === "NoMatch") return [];
        throw error;
      })),
    );
  }
  return all
    .map((live): OwnerNearby => {
      const isSelf = live.metadata.uid === owner.uid;
      return {
        ref: refOf(live),
        isSelf,
        isTerminating: isBeingDeletedWithObjects(live),
        cascades: isBeingDeletedWithObjects(live, true),
        has: isSelf
          ? []
          : shownIn(live)
              .filter(isNear)
              .map((ref) => ({ ref })),
      };
    })
    .filter(({ has, ref }) => has.length > 0 || isNear(ref));
}

/** What an owner has by its status. */
function shownIn({ status }: LiveObject): readonly ObjectRef[] {
  const inventory = isJsonObject(status) ? status["inventory"] : undefined;
  const entries = isJsonObject(inventory) && Array.isArray(inventory["entries"]) ? inventory["entries"] : [];
  return entries.flatMap((entry: unknown) => {
    const id = isJsonObject(entry) ? entry["id"] : undefined;
    return typeof id === "string" ? (readEntryId(id) ?? []) : [];
  });
}
