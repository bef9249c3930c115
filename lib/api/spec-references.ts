import type { KustomizationSpec } from "./kustomization-spec.ts";

/** Of a name in Kubernetes. */
const maxNameLength = 253;

/** The spec with an empty namespace left out of each reference whose namespace has a default: templates write it for none. */
export function withoutEmptyNamespaces(spec: KustomizationSpec): KustomizationSpec {
  const { namespace, ...source } = spec.sourceRef;
  return {
    ...spec,
    sourceRef: { ...source, ...given(namespace) },
    ...(spec.dependsOn && {
      dependsOn: spec.dependsOn.map(({ namespace: theirs, ...dependency }) => ({ ...dependency, ...given(theirs) })),
    }),
  };
}

function given(namespace = ""): { readonly namespace?: string } {
  return namespace === "" ? {} : { namespace };
}

/**
 * What a spec refers to by a name that no object can have, one text a field: `spec.dependsOn[0].name: is empty, ...`. The API
 * takes them as Flux's does; the API server answers such a name with an error or with all objects of the kind.
 */
export function referenceFaults(spec: KustomizationSpec): readonly string[] {
  const { dependsOn = [], healthChecks = [], wait } = spec;
  return [
    ...sourceFaults(spec),
    ...dependsOn.flatMap((dependency, index) =>
      nameFaults(`spec.dependsOn[${index}]`, "the Kustomization", dependency),
    ),
    // With `wait` they are left out.
    ...(wait ? [] : healthChecks).flatMap((check, index) => {
      const field = `spec.healthChecks[${index}]`;
      return [...kindFaults(field, check), ...nameFaults(field, "the object", check)];
    }),
  ];
}

/** As {@link referenceFaults}, of the source alone. */
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
    ...(name === "" || isName(name) ? [] : [`${field}.name: is no name of an object, write the name of ${wanted}`]),
    ...(namespace === "" || isName(namespace)
      ? []
      : [`${field}.namespace: is no name of a namespace, write one or leave it out`]),
  ];
}

/** What can be a part of the path of an object, which is all that every kind asks of its names. */
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
