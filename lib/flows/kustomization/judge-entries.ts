import { parseEntryId } from "../../apply/entry-id.ts";
import type { LiveObjects } from "../../apply/live-objects.ts";
import { reasonToKeep } from "../../apply/reason-to-keep.ts";
import { mapLimit } from "../../core/map-limit.ts";
import type { ObjectRef } from "../../core/object-ref.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { otherOwner } from "./other-owner.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** An object of ours that the artifact does not want and that is in the cluster. */
export interface JudgedEntry {
  readonly ref: ObjectRef;
  /** How the cluster names its kind in the plural. */
  readonly plural: string;
  /** Why a prune leaves it where it is; undefined: it deletes it. */
  readonly why: string | undefined;
}

/**
 * What a prune will do with these, decided as the prune itself does, in the order given. What is gone or on its way out is
 * not in the answer.
 */
export async function judgeEntries(
  entries: readonly InventoryEntry[],
  live: LiveObjects,
  of: SubjectOfRun,
): Promise<readonly JudgedEntry[]> {
  if (entries.length === 0) return [];
  const { cluster, deps, owner, name, namespace, run } = of;
  const ids = entries.map(({ id }) => id);
  const claims = await deps.ledger.claims(owner.clusterUid, ids, run.signal);
  const keep = {
    owner: { name, namespace },
    otherOwner: (id: string) => otherOwner(claims.get(id) ?? [], of),
  };
  const judged = await mapLimit(
    entries,
    deps.concurrency,
    async (entry, stop): Promise<readonly JudgedEntry[]> => {
      const ref = parseEntryId(entry.id);
      const resource = await cluster.resource({ group: ref.group, kind: ref.kind }, stop);
      if (resource === undefined) return [];
      const { plural, version } = resource;
      // Not among those with our labels: another's by now, or gone.
      const { metadata } = live.get(entry.id) ?? (await cluster.get({ ...ref, version }, stop)) ?? {};
      if (metadata === undefined || metadata.deletionTimestamp !== undefined) return [];
      if (entry.state === "retained") return [{ ref, plural, why: "kept when it left the artifact" }];
      return [{ ref, plural, why: (await reasonToKeep(entry, metadata, keep, stop))?.why }];
    },
    run.signal,
  );
  return judged.flat();
}
