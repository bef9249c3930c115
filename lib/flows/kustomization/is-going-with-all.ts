import { parseKustomization } from "../../api/kustomization.ts";
import { Failure } from "../../core/failure.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { deletesObjects } from "./deletes-objects.ts";

/** Whether a Kustomization is being deleted together with its objects. One whose spec cannot be read deletes nothing. */
export function isGoingWithAll(live: LiveObject): boolean {
  if (live.metadata.deletionTimestamp === undefined) return false;
  try {
    return deletesObjects(parseKustomization(live).spec);
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}
