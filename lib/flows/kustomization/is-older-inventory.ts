import type { KustomizationStatus } from "../../api/kustomization-status.ts";
import { mayBeShortened } from "./shown-inventory.ts";

/**
 * Whether our own inventory is older than what the status shows: the status names a generation as made true that our own was
 * never saved under. Every run of ours saves before the status does, so the state was restored from a backup, or Flux ran
 * meanwhile. Not known, and so false, where our own says nothing of a generation (saved by an earlier release), where the
 * status shows none or not all of its inventory, or names a generation that the object does not have. Pure.
 */
export function isOlderInventory(
  savedUnder: number | undefined,
  { observedGeneration, inventory }: KustomizationStatus,
  generation: number,
): boolean {
  if (savedUnder === undefined || observedGeneration === undefined || inventory === undefined) return false;
  if (observedGeneration > generation || mayBeShortened(inventory.entries)) return false;
  return savedUnder < observedGeneration;
}
