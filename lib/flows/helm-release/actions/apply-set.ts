import { helmGroup } from "../../../api/names.ts";
import { usualRules } from "../../../apply/set/apply-rules.ts";
import type { ApplySet } from "../../../apply/set/apply-set.ts";
import { helmReleaseStyle } from "../../../apply/set/owner-style.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";
import { isAlive } from "./delete-objects.ts";

/** A HelmRelease as an owner of objects. */
export function applySetOf(ctx: HelmReleaseContext): ApplySet {
  const { deps, homeUid, name, namespace, owner, run, target } = ctx;
  const elsewhere = homeUid === owner.clusterUid ? "" : `/${homeUid}`;
  return {
    ...{ owner, name, namespace, labelGroup: helmGroup, cluster: target, fence: run.fence },
    claimName: `HelmRelease/${namespace}/${name}${elsewhere}`,
    inventories: deps.inventories,
    ledger: deps.ledger,
    clock: deps.clock,
    installationKey: deps.installationKey,
    concurrency: deps.concurrency,
    rules: { ...usualRules, ...deps.applyRules, style: helmReleaseStyle },
    others: {
      stateOf: async ({ owner: by, ownerUid }) => ((await isAlive({ owner: by, ownerUid }, ctx)) ? "alive" : "gone"),
      ownersAround: async () => ({ expected: [], owners: [] }),
      wake: async () => {},
      subscribeTo: async () => {},
      announceRelease: async () => {},
    },
  };
}
