import type { Manifest } from "../../lib/core/manifest.ts";

/** A definition of a kind that takes any spec. For kinds whose own definition is not what the test is about. */
export function smallDefinition(
  group: string,
  kind: string,
  plural: string,
  versions: readonly string[],
  scope = "Namespaced",
): Manifest {
  const openAPIV3Schema = {
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
    properties: {
      spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      annotations: { "api-approved.kubernetes.io": "https://github.com/kubernetes/enhancements/pull/1111" },
    },
    spec: {
      group,
      scope,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema },
        subresources: { status: {} },
      })),
    },
  };
}
