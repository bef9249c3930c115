import type { HelmReleaseSpec } from "./helm-release-spec.ts";
import type { KustomizationSpec } from "./kustomization-spec.ts";
import { isAccountName } from "./names.ts";

/** The longest name in Kubernetes. */
const maxNameLength = 253;

/** The spec without empty namespaces in references, so that their defaults apply. Templates write an empty namespace for none. */
export function withoutEmptyNamespaces(spec: KustomizationSpec): KustomizationSpec {
  const { namespace, ...source } = spec.sourceRef;
  return {
    ...spec,
    sourceRef: { ...source, ...given(namespace) },
    ...dependenciesIn(spec),
  };
}

/** As {@link withoutEmptyNamespaces}, for the dependencies of a HelmRelease. */
export function withoutEmptyDependencyNamespaces(spec: HelmReleaseSpec): HelmReleaseSpec {
  return { ...spec, ...dependenciesIn(spec) };
}

function dependenciesIn<Dependency extends { readonly namespace?: string }>({
  dependsOn,
}: {
  readonly dependsOn?: readonly Dependency[];
}) {
  return (
    dependsOn && {
      dependsOn: dependsOn.map(({ namespace, ...dependency }) => ({ ...dependency, ...given(namespace) })),
    }
  );
}

function given(namespace = ""): { readonly namespace?: string } {
  return namespace === "" ? {} : { namespace };
}

/**
 * One text for each reference with an impossible name (`spec.dependsOn[0].name: is empty, ...`), and for each ignored path that is not a
 * field. The schema accepts them, as Flux's does; the API server would answer them with an error or with all objects of the kind.
 */
export function referenceFaults(spec: KustomizationSpec): readonly string[] {
  const { dependsOn = [], healthChecks = [], ignore = [], serviceAccount, serviceAccountName = "", wait } = spec;
  return [
    ...sourceFaults(spec),
    ...(serviceAccountName === "" || isAccountName(serviceAccountName)
      ? []
      : ["spec.serviceAccountName: is not a valid name, write the name of a service account of this namespace"]),
    ...(serviceAccount === undefined
      ? []
      : [
          "spec.serviceAccount: is a field of former API versions, remove it and write the name of a service account of this namespace in spec.serviceAccountName",
        ]),
    ...dependencyFaults("Kustomization", dependsOn),
    ...ignore.flatMap(({ paths }, index) =>
      paths.flatMap((path, at) => pointerFaults(`spec.ignore[${index}].paths[${at}]`, path)),
    ),
    // With `wait` the health checks are ignored.
    ...(wait ? [] : healthChecks).flatMap((check, index) => {
      const field = `spec.healthChecks[${index}]`;
      return [...kindFaults(field, check), ...nameFaults(field, "the object", check)];
    }),
  ];
}

/** As {@link referenceFaults}, but only for the dependencies of an object of this kind. */
export function dependencyFaults(
  kind: "HelmRelease" | "Kustomization",
  dependsOn: readonly { readonly name: string; readonly namespace?: string }[],
): readonly string[] {
  return dependsOn.flatMap((dependency, index) => nameFaults(`spec.dependsOn[${index}]`, `the ${kind}`, dependency));
}

/** Ignored fields are written as pointers; fields that identify an object cannot be ignored. */
function pointerFaults(field: string, path: string): readonly string[] {
  if (path === "" || path === "/metadata") return [`${field}: is more than a field, name one, such as /spec/replicas`];
  if (path.startsWith("/")) return [];
  return [`${field}: is not a JSON pointer, write a path that begins with /, such as /spec/replicas`];
}

/** As {@link referenceFaults}, but only for the source. */
export function sourceFaults({ sourceRef }: Pick<KustomizationSpec, "sourceRef">): readonly string[] {
  return nameFaults("spec.sourceRef", `the ${sourceRef.kind}`, sourceRef);
}

function nameFaults(
  field: string,
  wanted: string,
  { name, namespace = "" }: { readonly name: string; readonly namespace?: string },
): readonly string[] {
  return [
    ...(name === "" ? [`${field}.name: is empty, write the name of ${wanted}`] : []),
    ...(name === "" || isName(name) ? [] : [`${field}.name: is not a valid name, write the name of ${wanted}`]),
    ...(namespace === "" || isName(namespace)
      ? []
      : [`${field}.namespace: is not a valid namespace, write one or leave it out`]),
  ];
}

/** Whether a text can be part of an object's path, which is the only rule that all kinds have for names. */
function isName(text: string): boolean {
  return text.length <= maxNameLength && text !== "." && text !== ".." && !/[/%]/.test(text);
}

function kindFaults(
  field: string,
  { apiVersion = "", kind }: { readonly apiVersion?: string; readonly kind: string },
): readonly string[] {
  const isVersion = apiVersion === "" || /^([^/]*\/)?[^/]+$/.test(apiVersion);
  return [
    ...(isVersion ? [] : [`${field}.apiVersion: must be like v1 or apps/v1`]),
    ...(kind === "" ? [`${field}.kind: is empty, write the kind of the object`] : []),
  ];
}
