import type { SubjectOfRun } from "./subject-of-run.ts";

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

/** The same for an event about the revision that is in the cluster. */
export function appliedAnnotations(of: SubjectOfRun): Readonly<Record<string, string>> {
  const { lastAppliedRevision, lastAppliedOriginRevision } = of.status();
  return revisionAnnotations(lastAppliedRevision, lastAppliedOriginRevision);
}
