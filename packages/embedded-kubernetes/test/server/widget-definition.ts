/** A definition of the namespaced kind `Widget`, which has one number in its spec. */
export function widgetDefinition(group: string): object {
  const spec = { type: "object", properties: { size: { type: "integer" } } };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
}
