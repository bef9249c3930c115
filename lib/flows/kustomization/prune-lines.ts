import { parseEntryId } from "../../apply/entry-id.ts";
import type { Pruned } from "../../apply/prune/pruned.ts";
import { subject } from "../../core/object-ref.ts";

/** The lines that Flux's event has for a prune; what an earlier run has reported, or a later one may report, is left out. Pure. */
export function pruneLines(pruned: readonly Pruned[]): readonly string[] {
  return pruned
    .filter(({ kind, entry }) => (kind === "deleted" || kind === "skipped") && entry.state !== "deleting")
    .map(({ kind, entry }) => `${subject(parseEntryId(entry.id))} ${kind}`);
}
