import { equal } from "../core/equal.ts";
import type { LiveObject } from "../core/manifest.ts";
import { ownFields } from "./field-managers.ts";

/**
 * Whether the apply that this dry run tried would change the live object: its labels, its annotations, finalizers, owner
 * references, any field but `status`, or what we own of it (a field that happens to have our value but is not ours would
 * drift unseen later).
 */
export function drifted(live: LiveObject, dryRun: LiveObject): boolean {
  return (
    !equal(live.metadata.labels ?? {}, dryRun.metadata.labels ?? {}) ||
    !equal(live.metadata.annotations ?? {}, dryRun.metadata.annotations ?? {}) ||
    !equal(live.metadata.finalizers ?? [], dryRun.metadata.finalizers ?? []) ||
    !equal(live.metadata.ownerReferences ?? [], dryRun.metadata.ownerReferences ?? []) ||
    !equal(content(live), content(dryRun)) ||
    !equal(ownFields(live.metadata.managedFields), ownFields(dryRun.metadata.managedFields))
  );
}

function content(object: LiveObject): unknown {
  const { metadata: _metadata, status: _status, ...rest } = object;
  return rest;
}
