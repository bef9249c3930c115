import { subject } from "../core/object-ref.ts";
import { someOf } from "../core/some-of.ts";
import { parseEntryId } from "./entry-id.ts";
import type { Plan } from "./plan.ts";

/**
 * What to say of a plan that prunes everything because nothing is wanted any more: meant as often as it is a build that
 * went wrong. Undefined for any other plan, and where all has been told already. Pure.
 */
export function emptiedWarning({ objects, prune }: Plan): string | undefined {
  const going = prune.filter(({ entry, kind }) => entry.state !== "deleting" && kind !== "handOver");
  if (objects.length > 0 || going.length === 0) return undefined;
  const names = going.map(({ entry }) => subject(parseEntryId(entry.id)));
  return `no objects in this revision: pruning all that there are, ${someOf(names)}`;
}
