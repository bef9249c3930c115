/** The most memory of a thread that runs kustomize or CEL, in MiB: set in the modules (`engine/build.sh`). */
export const moduleMemoryMiB = { kustomize: 512, cel: 256 };
/** Memory of a module never shrinks: a thread of kustomize with more than this is not kept for the next build. */
export const keptKustomizeMiB = 192;
