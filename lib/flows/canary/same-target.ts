import { z } from "zod";
import { canaryText, targetText } from "../../canary/canary.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { type CanaryContext, servedCanary } from "./canary-context.ts";

const Targeting = z.object({
  spec: z.object({ targetRef: z.object({ kind: z.string(), name: z.string() }) }),
});

/** The Canary that releases the target of another one already. */
export interface TargetOwner {
  /** In the same namespace. */
  readonly name: string;
  /** Why the other one is not released. */
  readonly message: string;
}

/**
 * The Canary that releases the target of this one already; undefined if none does. The older one goes on, by its time of creation and then by
 * name: both would write to one primary. One that is being deleted counts until it is gone, since it may still give the target back.
 */
export async function targetTaken(ctx: CanaryContext): Promise<TargetOwner | undefined> {
  const { canary, home, run } = ctx;
  const { namespace, spec } = canary;
  const { kind, name } = spec.targetRef;
  const others = await home.list({ ...servedCanary, namespace }, run.signal);
  const older = others.find((other) => {
    const target = Targeting.safeParse(other).data?.spec.targetRef;
    const isSame = target?.kind === kind && target.name === name;
    return isSame && isOlder(other, canary.live);
  });
  if (older === undefined) return undefined;
  const owner = canaryText({ name: older.metadata.name, namespace });
  const message = `Canary ${canaryText(canary)} is not released: its target ${kind} ${targetText(canary)} belongs to the older Canary ${owner}; delete one of them or change its spec.targetRef`;
  return { name: older.metadata.name, message };
}

function isOlder({ metadata: one }: LiveObject, { metadata: other }: LiveObject): boolean {
  if (one.uid === other.uid) return false;
  const [created, own] = [one.creationTimestamp ?? "", other.creationTimestamp ?? ""];
  return created === own ? one.name < other.name : created < own;
}
