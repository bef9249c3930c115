import type { JsonObject } from "../../../lib/core/json.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { VersionedRef } from "../../../lib/core/object-ref.ts";

export const configMap = (
  name: string,
  data: Record<string, string> = { k: "v" },
  metadata: JsonObject = {},
): Manifest => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { ...metadata, name },
  data,
});

/** Where that ConfigMap is. */
export const configMapRef = (namespace: string, name: string): VersionedRef => ({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  namespace,
  name,
});

/** A Service named `s` with one port. */
export const service = (port: number) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "s" },
  spec: { selector: { app: "x" }, ports: [{ port }] },
});

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
