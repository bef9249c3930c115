import { readKustomization } from "../../api/kustomization.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { deletesObjects } from "./deletes-objects.ts";

/**
 * Whether a Kustomization is being deleted together with its objects. One whose spec cannot be read deletes nothing.
 *
 * @param isPruned it is about to be deleted
 */
export function isGoingWithAll(live: LiveObject, isPruned = false): boolean {
  if (live.metadata.deletionTimestamp === undefined && !isPruned) return false;
  const kustomization = readKustomization(live);
  return kustomization !== undefined && deletesObjects(kustomization.spec);
}
