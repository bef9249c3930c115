import type { Metadata } from "../core/manifest.ts";

/** How many looks a delete takes at an object that other clients write between the look and the delete. */
export const maxLooks = 4;

/** The options of a delete that hits the object as it was judged, and no other or later state of it. Pure. */
export function judgedOnly({ uid, resourceVersion }: Metadata) {
  return {
    propagation: "Background",
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  } as const;
}
