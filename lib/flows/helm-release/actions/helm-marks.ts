import type { Manifest, Metadata } from "../../../core/manifest.ts";

/** The release of an object, as Helm writes it to the object. */
export interface MarkedRelease {
  readonly name: string;
  readonly namespace: string;
}

const managedBy = { "app.kubernetes.io/managed-by": "Helm" };
const nameAnnotation = "meta.helm.sh/release-name";
const namespaceAnnotation = "meta.helm.sh/release-namespace";

/** The object with the label and the two annotations that Helm puts on each object of a release (pkg/action/validate.go). */
export function withHelmMarks(manifest: Manifest, release: MarkedRelease): Manifest {
  const { labels, annotations } = manifest.metadata;
  const marks = helmMarks(release);
  return {
    ...manifest,
    metadata: {
      ...manifest.metadata,
      labels: { ...labels, ...marks.labels },
      annotations: { ...annotations, ...marks.annotations },
    },
  };
}

/** The labels and annotations of the objects of this release. */
export function helmMarks({ name, namespace }: MarkedRelease) {
  return { labels: managedBy, annotations: { [nameAnnotation]: name, [namespaceAnnotation]: namespace } };
}

/** Whether Helm's annotations on an object name this release. */
export function isMarkedAs(
  { annotations }: Pick<Metadata, "annotations">,
  { name, namespace }: MarkedRelease,
): boolean {
  return annotations?.[nameAnnotation] === name && annotations[namespaceAnnotation] === namespace;
}
