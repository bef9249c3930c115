import {
  type InventoryReport,
  type KnownInventory,
  knownInventory,
  type OwnStatus,
  saveUnderGeneration,
} from "../../apply/inventory.ts";
import { usualRules } from "../../apply/set/apply-rules.ts";
import type { ApplySet, OtherOwners } from "../../apply/set/apply-set.ts";
import { type EventReason, Failure } from "../../core/failure.ts";
import { isOutage } from "../../core/ports/outage.ts";
import { releaseTopic } from "../../core/topics.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { keyOfClaim } from "../owner/owner-state.ts";
import { ownersAround, ownersOfKind } from "../owner/owners-nearby.ts";
import { readCarriedState } from "./attempt.ts";
import { type KustomizationContext, openTarget } from "./context.ts";
import { subscribeForRun } from "./dependencies.ts";
import { claimNameOf, expectedBySiblings, ownerStateOf } from "./other-owners.ts";
import type { ResolvedSource } from "./resolve-source.ts";

/**
 * A Kustomization as an owner of objects.
 *
 * @param source undefined if it has none: then no other Kustomization of the same source is about to have its objects
 */
export function applySetOf(ctx: KustomizationContext, source: ResolvedSource | undefined): ApplySet {
  const { deps, owner, name, namespace, remote, run, target } = ctx;
  if (remote === "closed") throw new Error("the cluster of spec.kubeConfig was not opened");
  return {
    owner,
    name,
    namespace,
    claimName: claimNameOf(ctx),
    cluster: target,
    inventories: deps.inventories,
    ledger: deps.ledger,
    fence: run.fence,
    clock: deps.clock,
    installationKey: deps.installationKey,
    concurrency: deps.concurrency,
    rules: { ...usualRules, ...deps.applyRules, migratesApiVersion: deps.gates.MigrateAPIVersion },
    others: otherKustomizations(ctx, source),
  };
}

function otherKustomizations(ctx: KustomizationContext, source: ResolvedSource | undefined): OtherOwners {
  const { deps, name, namespace, run } = ctx;
  const ownName = `${run.key.kind}/${namespace}/${name}`;
  const keyOf = (other: string): WorkKey => keyOfClaim(other, run.key.cluster);
  return {
    stateOf: (claim, signal) => ownerStateOf(claim, ctx, signal),
    ownersAround: async ({ isNear, mayCascade }, signal) => {
      if (source === undefined && !mayCascade) return { expected: [], owners: [] };
      const all = await ownersOfKind("Kustomization", ctx.home, signal);
      return {
        expected: source === undefined ? [] : await expectedBySiblings(all, isNear, source, ctx),
        owners: mayCascade ? await ownersAround(all, isNear, ctx, signal) : [],
      };
    },
    wake: async (other, why, signal) => {
      await deps.requests.request(keyOf(other), `${ownName} ${why}`, signal);
    },
    subscribeTo: async (owners) => subscribeForRun(ctx, owners.map(keyOf).map(releaseTopic)),
    announceRelease: async (signal) => {
      for (const subscriber of await deps.subscriptions.subscribers(releaseTopic(run.key), signal)) {
        await deps.requests.request(subscriber, `${ownName} has let go of objects`, signal);
      }
    },
  };
}

/** What the Kustomization has in the cluster before a run; see {@link knownInventory}. */
export async function inventoryOf(ctx: KustomizationContext): Promise<KnownInventory> {
  return knownInventory(ownStatus(ctx), reportTo(ctx), applySetOf(ctx, undefined), ctx.run.signal);
}

/** Called before a status names a generation that nothing was applied under; see {@link saveUnderGeneration}. */
export async function saveInventoryUnderGeneration(ctx: KustomizationContext): Promise<void> {
  if (ctx.status().observedGeneration === ctx.generation) return;
  const open = await openTarget(ctx).catch((error: unknown) => {
    if (error instanceof Failure || isOutage(error)) return undefined;
    throw error;
  });
  // If a cluster cannot be opened, nothing was released there meanwhile, since nothing was applied there.
  if (open === undefined) return;
  await saveUnderGeneration(ownStatus(open), reportTo(open), applySetOf(open, undefined), open.run.signal);
}

function ownStatus({ generation, kustomization: { status }, run }: KustomizationContext): OwnStatus {
  return { status, generation, isFinalizing: readCarriedState(run.carried).isFinalizing === true };
}

function reportTo(ctx: KustomizationContext): InventoryReport {
  const { deps, run } = ctx;
  const warn = async (reason: EventReason, message: string): Promise<void> => {
    deps.log.warn(message, { ...run.key });
    ctx.record({ type: "Warning", reason, message, annotations: {} });
    await ctx.eventsSent();
  };
  return {
    unreadable: (message) => deps.log.warn(message, { ...run.key }),
    outdated: (message) => warn("InventoryOutdated", message),
    leftElsewhere: (message) => warn("TargetChanged", message),
  };
}
