import { kustomizeGroup } from "../../api/names.ts";
import type { ApplySet, OtherOwners } from "../../apply/prune/apply-set.ts";
import { releaseEdge } from "../../core/edge-names.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { expectedBySiblings } from "./expected-by-siblings.ts";
import { listenForRun } from "./listen-for-run.ts";
import { ownersNearby } from "./owners-nearby.ts";
import type { ResolvedSource } from "./resolve-source.ts";
import { refOfOwner, standingOf } from "./standing.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/**
 * A Kustomization as an owner of objects.
 *
 * @param source undefined where it has none: then no other Kustomization is about to have anything of it
 */
export function applySetOf(of: SubjectOfRun, source: ResolvedSource | undefined): ApplySet {
  const { cluster, deps, owner, name, namespace, run } = of;
  return {
    owner,
    name,
    namespace,
    claimName: `Kustomization/${namespace}/${name}`,
    cluster,
    inventories: deps.inventories,
    ledger: deps.ledger,
    fence: run.fence,
    concurrency: deps.concurrency,
    others: otherKustomizations(of, source),
  };
}

function otherKustomizations(of: SubjectOfRun, source: ResolvedSource | undefined): OtherOwners {
  const { deps, owner, name, namespace, run } = of;
  const self = `${run.key.kind}/${namespace}/${name}`;
  const keyOf = (other: string): WorkKey => ({ cluster: run.key.cluster, ...refOfOwner(other) });
  return {
    standing: (claim, signal) => standingOf(claim, of, signal),
    around: async ({ isNear, takesAlong }, signal) => {
      if (source === undefined && !takesAlong) return { expected: [], owners: [] };
      // With our own rights: whether something of others would be lost is no question of what this object's account may see.
      const all = await deps.cluster.list({ group: kustomizeGroup, version: "v1", kind: "Kustomization" }, signal);
      return {
        expected: source === undefined ? [] : await expectedBySiblings(all, isNear, source, of),
        owners: takesAlong ? ownersNearby(all, owner.uid, isNear) : [],
      };
    },
    wake: async (other, why, signal) => {
      await deps.requests.request(keyOf(other), `${self} ${why}`, signal);
    },
    listenTo: async (owners) => listenForRun(of, owners.map(keyOf).map(releaseEdge)),
    announceRelease: async (signal) => {
      for (const listener of await deps.edges.listeners(releaseEdge(run.key), signal)) {
        await deps.requests.request(listener, `${self} has let go of objects`, signal);
      }
    },
  };
}
