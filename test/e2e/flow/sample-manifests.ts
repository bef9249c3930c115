import type { Manifest } from "../../../lib/core/manifest.ts";

export const namespaceNamed = (name: string): Manifest => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

/** The manifest in this namespace, whatever the target namespace. */
export const placed = (namespace: string, manifest: Manifest): Manifest => ({
  ...manifest,
  metadata: { ...manifest.metadata, namespace },
});

/** An object named `w` of `widgetDefinition(group)`. */
export const widget = (group: string): Manifest => ({
  apiVersion: `${group}/v1`,
  kind: "Widget",
  metadata: { name: "w" },
});
