import { z } from "zod";
import { canaryText, targetText } from "../../canary/canary.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { type CanaryContext, servedCanary } from "./canary-context.ts";

const Targeting = z.object({
  spec: z.object({ targetRef: z.object({ kind: z.string(), name: z.string() }) }),
});

/**
 * Why a Canary is refused whose target another one releases already; undefined if none does. The older one goes on, by its time of creation
 * and then by name: both would write to one primary.
 */
export async function targetTaken(ctx: CanaryContext): Promise<string | undefined> {
  const { canary, home, run } = ctx;
  const { namespace, spec } = canary;
  const { kind, name } = spec.targetRef;
  const others = await home.list({ ...servedCanary, namespace }, run.signal);
  const older = others.find((other) => {
    const target = Targeting.safeParse(other).data?.spec.targetRef;
    const isSame = target?.kind === kind && target.name === name;
    return isSame && other.metadata.deletionTimestamp === undefined && isOlder(other, canary.live);
  });
  if (older === undefined) return undefined;
  const owner = canaryText({ name: older.metadata.name, namespace });
  return `Canary ${canaryText(canary)} is not released: its target ${kind} ${targetText(canary)} belongs to the older Canary ${owner}; delete one of them or change its spec.targetRef`;
}

function isOlder({ metadata: one }: LiveObject, { metadata: other }: LiveObject): boolean {
  if (one.uid === other.uid) return false;
  const [created, own] = [one.creationTimestamp ?? "", other.creationTimestamp ?? ""];
  return created === own ? one.name < other.name : created < own;
}
