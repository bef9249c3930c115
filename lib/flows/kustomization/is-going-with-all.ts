import { readForEnd } from "../../api/kustomization.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { deletesObjects } from "./deletes-objects.ts";

/**
 * Whether a Kustomization is being deleted together with its objects. What cannot be read of it matters
 * as far as its end goes by it: then it deletes nothing.
 *
 * @param isPruned it is about to be deleted
 */
export function isGoingWithAll(live: LiveObject, isPruned = false): boolean {
  if (live.metadata.deletionTimestamp === undefined && !isPruned) return false;
  const kustomization = readForEnd(live);
  return kustomization !== undefined && deletesObjects(kustomization.spec);
}
