import type { Manifest } from "../../../lib/core/manifest.ts";

const numberOnly = { type: "object", properties: { size: { type: "integer" } } };

/** A namespaced kind `Widget`; with one number in its spec, unless the version brings a schema of its own. */
export function widgetDefinition(group: string, version = {}, spec: object = numberOnly): Manifest {
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
          ...version,
        },
      ],
    },
  };
}
