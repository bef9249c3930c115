import { helmGroup } from "../../../api/names.ts";
import { usualRules } from "../../../apply/set/apply-rules.ts";
import type { ApplySet, OtherOwners } from "../../../apply/set/apply-set.ts";
import { helmReleaseStyle } from "../../../apply/set/owner-style.ts";
import { releaseTopic } from "../../../core/topics.ts";
import { keyOfClaim, stateOfOwner } from "../../owner/owner-state.ts";
import { ownersAround, ownersOfKind } from "../../owner/owners-nearby.ts";
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
    handsOverAtOnce: true,
  };
}

function otherOwners(ctx: HelmReleaseContext): OtherOwners {
  const { deps, home, homeUid, name, namespace, owner, run } = ctx;
  const ownName = `${run.key.kind}/${namespace}/${name}`;
  return {
    stateOf: (claim, signal) => stateOfOwner(claim, { home, homeUid, targetUid: owner.clusterUid }, signal),
    ownersAround: async ({ isNear, mayCascade }, signal) => {
      if (!mayCascade) return { expected: [], owners: [] };
      const all = await ownersOfKind("Kustomization", home, signal);
      return { expected: [], owners: await ownersAround(all, isNear, ctx, signal) };
    },
    wake: async (other, why, signal) => {
      await deps.requests.request(keyOfClaim(other, run.key.cluster), `${ownName} ${why}`, signal);
    },
    // Objects are handed over at once.
    subscribeTo: async () => {},
    announceRelease: async (signal) => {
      for (const subscriber of await deps.subscriptions.subscribers(releaseTopic(run.key), signal)) {
        await deps.requests.request(subscriber, `${ownName} has let go of objects`, signal);
      }
    },
  };
}
