import { z } from "zod";
import { canaryText, targetText } from "../../canary/canary.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Cluster } from "../../core/ports/cluster.ts";
import { sharedListings } from "../../sources/shared-listing.ts";
import { type CanaryContext, servedCanary } from "./canary-context.ts";

/** A Canary of the namespace, as other Canaries see it. */
export interface ListedCanary {
  readonly name: string;
  readonly uid: string;
  readonly created: string;
  /** Absent where it cannot be read. */
  readonly target?: { readonly kind: string; readonly name: string };
}

const Targeting = z.object({
  spec: z.object({ targetRef: z.object({ kind: z.string(), name: z.string() }) }),
});

/**
 * Lists the Canaries of a namespace once for all runs of this process that began before: after a start each Canary looks for the
 * others, and a thousand lists of a thousand would take minutes.
 */
export function canaryListings(clock: Pick<Clock, "monotonic">): ListCanaries {
  const share = sharedListings(clock, { keptMs, max: maxNamespaces });
  return ({ namespace, home, signal }, since) => {
    const ask = async (stop: AbortSignal) =>
      (await home.list({ ...servedCanary, namespace }, stop)).map((live) => listed(live));
    return share({ key: `Canaries of ${namespace}`, since, ask, bytesOf }, signal);
  };
}

/** @param since when the run began, by the clock's monotonic time: what was listed before does not count */
export type ListCanaries = (asked: Asked, since: number) => Promise<readonly ListedCanary[]>;

interface Asked {
  readonly namespace: string;
  readonly home: Pick<Cluster, "list">;
  readonly signal: AbortSignal;
}

const keptMs = 1_000;
const maxNamespaces = 32;

function listed(live: LiveObject): ListedCanary {
  const { name, uid, creationTimestamp } = live.metadata;
  const target = Targeting.safeParse(live).data?.spec.targetRef;
  return { name, uid, created: creationTimestamp ?? "", ...(target === undefined ? {} : { target }) };
}

/** Four short texts each. */
function bytesOf(canaries: readonly ListedCanary[]): number {
  return canaries.length * 512;
}

/** The Canary that releases the target of another one already. */
export interface TargetOwner {
  /** In the same namespace. */
  readonly name: string;
  /** Why the other one is not released. */
  readonly message: string;
}

/**
 * The Canary that already releases this one's target; undefined if none does. The older one continues, by creation time and then by
 * name: both would write to one primary. A Canary that is being deleted counts until it is gone, since it may still restore the
 * target.
 */
export function targetTaken({ canary }: CanaryContext, all: readonly ListedCanary[]): TargetOwner | undefined {
  const { live, namespace, spec } = canary;
  const { kind, name } = spec.targetRef;
  const own = listed(live);
  const older = all.find((other) => other.target?.kind === kind && other.target.name === name && isOlder(other, own));
  if (older === undefined) return undefined;
  const owner = canaryText({ name: older.name, namespace });
  const message = `Canary ${canaryText(canary)} is not released: its target ${kind} ${targetText(canary)} belongs to the older Canary ${owner}; delete one of them or change its spec.targetRef`;
  return { name: older.name, message };
}

function isOlder(one: ListedCanary, other: ListedCanary): boolean {
  if (one.uid === other.uid) return false;
  return one.created === other.created ? one.name < other.name : one.created < other.created;
}
