import type { AppliedObject } from "../../apply/apply-object.ts";
import { parseEntryId } from "../../apply/entry-id.ts";
import type { LiveObjects } from "../../apply/live-objects.ts";
import { skippedBy } from "../../apply/opt-outs.ts";
import type { Pruned } from "../../apply/prune/pruned.ts";
import { subject } from "../../core/object-ref.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

const maxNamed = 10;

/** Logs which objects an apply has left alone and why: Flux's events do not tell of them. */
export function logSkippedApplies(applied: readonly AppliedObject[], live: LiveObjects, of: SubjectOfRun): void {
  const skipped = applied.flatMap(({ desired: { id, manifest, ref }, change }) =>
    change === "skipped" ? [{ object: subject(ref), why: skippedBy(manifest.metadata, live.get(id)?.metadata) }] : [],
  );
  log("objects not applied", skipped, of);
}

/** Logs which objects a prune has kept and why: Flux's event says `skipped` and no more. */
export function logSkippedPrunes(pruned: readonly Pruned[], of: SubjectOfRun): void {
  const skipped = pruned.flatMap((one) =>
    one.kind === "skipped" || one.kind === "pending"
      ? [{ object: subject(parseEntryId(one.entry.id)), why: one.why }]
      : [],
  );
  log("objects not pruned", skipped, of);
}

function log(message: string, skipped: readonly object[], { deps, run }: SubjectOfRun): void {
  if (skipped.length === 0) return;
  deps.log.info(message, { ...run.key, count: skipped.length, objects: skipped.slice(0, maxNamed) });
}
