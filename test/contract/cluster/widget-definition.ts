import type { Manifest } from "../../../lib/core/manifest.ts";

/** A namespaced kind `Widget` with one number in its spec. */
export function widgetDefinition(group: string): Manifest {
  const spec = { type: "object", properties: { size: { type: "integer" } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
        },
      ],
    },
  };
}
