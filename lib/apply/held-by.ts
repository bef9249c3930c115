import type { Manifest, Metadata } from "../core/manifest.ts";
import { mayVanish } from "./may-vanish.ts";
import { isUnmanaged } from "./opt-outs.ts";

/**
 * The finalizers that hold an object which is being deleted although it is wanted; undefined for any other: one that is
 * not, that is left alone, or that is to go by itself. Pure.
 */
export function heldBy(wanted: Manifest, live: Metadata): readonly string[] | undefined {
  if (live.deletionTimestamp === undefined || mayVanish(wanted)) return undefined;
  if (isUnmanaged(wanted.metadata) || isUnmanaged(live)) return undefined;
  return live.finalizers ?? [];
}
