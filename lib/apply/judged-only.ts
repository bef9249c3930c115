import type { Metadata } from "../core/manifest.ts";

/** How often a delete is decided anew because somebody wrote the object between the look and the delete. */
export const maxLooks = 4;

/** Deletes the object that was judged, and no other or later state of it. Pure. */
export function judgedOnly({ uid, resourceVersion }: Metadata) {
  return {
    propagation: "Background",
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  } as const;
}
