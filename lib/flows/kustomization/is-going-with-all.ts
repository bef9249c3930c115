import { parseKustomization } from "../../api/kustomization.ts";
import { Failure } from "../../core/failure.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { deletesObjects } from "./deletes-objects.ts";

/**
 * Whether a Kustomization is being deleted together with its objects. One whose spec cannot be read deletes nothing.
 *
 * @param isPruned it is about to be deleted
 */
export function isGoingWithAll(live: LiveObject, isPruned = false): boolean {
  if (live.metadata.deletionTimestamp === undefined && !isPruned) return false;
  try {
    return deletesObjects(parseKustomization(live).spec);
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}
