import { readForEnd } from "../../api/kustomization.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { deletesObjects } from "./deletes-objects.ts";

/**
 * Whether a Kustomization is being deleted together with its objects. One with an unreadable field that decides about its
 * end deletes nothing; other unreadable fields do not matter.
 *
 * @param isPruned it is about to be deleted
 */
export function isGoingWithAll(live: LiveObject, isPruned = false): boolean {
  if (live.metadata.deletionTimestamp === undefined && !isPruned) return false;
  const kustomization = readForEnd(live);
  return kustomization !== undefined && deletesObjects(kustomization.spec);
}
