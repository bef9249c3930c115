/** The most memory of a thread that runs kustomize, CEL or Helm, in MiB: set in the modules (`engine/build.sh`). */
export const moduleMemoryMiB = { kustomize: 512, cel: 256, helm: 512 };
/** Memory of a module never shrinks: a thread of kustomize with more than this is not kept for the next build. */
export const keptKustomizeMiB = 192;
/** The same of a thread of Helm. */
export const keptHelmMiB = 192;
