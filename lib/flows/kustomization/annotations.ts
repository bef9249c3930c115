/** The event metadata that says which revision an event of a Kustomization is about. */
export function revisionAnnotations(
  revision: string | undefined,
  originRevision: string | undefined,
): Readonly<Record<string, string>> {
  return {
    ...(revision === undefined ? {} : { "kustomize.toolkit.fluxcd.io/revision": revision }),
    ...(originRevision === undefined ? {} : { "kustomize.toolkit.fluxcd.io/originRevision": originRevision }),
  };
}
