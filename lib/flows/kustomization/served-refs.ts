import { parseEntryId } from "../../apply/entry-id.ts";
import { mapLimit } from "../../core/map-limit.ts";
import type { ObjectRef } from "../../core/object-ref.ts";
import type { Resource } from "../../core/ports/cluster.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

export interface ServedRef {
  readonly ref: ObjectRef;
  readonly resource: Resource;
}

/** What these entries name, with how the cluster serves it now; a kind that is served no more has no objects. */
export async function servedRefs(
  entries: readonly InventoryEntry[],
  { cluster, deps, run }: Pick<SubjectOfRun, "cluster" | "deps" | "run">,
): Promise<readonly ServedRef[]> {
  const found = await mapLimit(
    entries.map(({ id }) => parseEntryId(id)),
    deps.concurrency,
    async (ref, stop) => ({ ref, resource: await cluster.resource({ group: ref.group, kind: ref.kind }, stop) }),
    run.signal,
  );
  return found.flatMap(({ ref, resource }) => (resource === undefined ? [] : [{ ref, resource }]));
}
