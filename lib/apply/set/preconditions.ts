import type { Metadata } from "../../core/manifest.ts";

/** How many looks a delete takes at an object that other clients write between the look and the delete. */
export const maxLooks = 4;

/** The options of a delete with the uid and resourceVersion of the object that was checked as preconditions. Pure. */
export function preconditionsOf({ uid, resourceVersion }: Metadata) {
  return {
    propagation: "Background",
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  } as const;
}
