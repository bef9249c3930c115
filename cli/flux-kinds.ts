/** A kind of Flux: events of other kinds are not shown. */
interface FluxKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Where it names the object that it takes its content from. */
  readonly refersTo?: readonly string[];
}

const kustomize = { group: "kustomize.toolkit.fluxcd.io", version: "v1" };
const helm = { group: "helm.toolkit.fluxcd.io", version: "v2" };
const source = { group: "source.toolkit.fluxcd.io", version: "v1" };
const image = { group: "image.toolkit.fluxcd.io", version: "v1" };
const notification = { group: "notification.toolkit.fluxcd.io", version: "v1beta3" };

const fluxKinds: readonly FluxKind[] = [
  { ...kustomize, kind: "Kustomization", refersTo: ["spec", "sourceRef"] },
  { ...helm, kind: "HelmRelease", refersTo: ["spec", "chart", "spec", "sourceRef"] },
  { ...source, kind: "Bucket" },
  { ...source, kind: "ExternalArtifact" },
  { ...source, kind: "GitRepository" },
  { ...source, kind: "HelmChart", refersTo: ["spec", "sourceRef"] },
  { ...source, kind: "HelmRepository" },
  { ...source, kind: "OCIRepository" },
  { ...image, kind: "ImagePolicy" },
  { ...image, kind: "ImageRepository" },
  { ...image, kind: "ImageUpdateAutomation" },
  { ...notification, kind: "Alert" },
  { ...notification, kind: "Provider" },
  { ...notification, version: "v1", kind: "Receiver" },
];

/** A kind by its name in any case of letters. */
export function fluxKindOf(name: string): FluxKind | undefined {
  return fluxKinds.find(({ kind }) => kind.toLowerCase() === name.toLowerCase());
}

export function knownKind(name: string): FluxKind {
  const found = fluxKindOf(name);
  if (found === undefined) throw new Error(`'${name}' is not a recognized Flux kind`);
  return found;
}
