import type { JsonObject } from "../../../src/core/json.ts";

export const metadata = { name: "a", namespace: "x" };
export const selector = { matchLabels: { app: "a" } };

export function podOf(container: JsonObject, spec: JsonObject = {}): JsonObject {
  return { metadata, spec: { containers: [{ name: "app", image: "x:1", ...container }], ...spec } };
}

export function deploymentOf(spec: JsonObject): JsonObject {
  const template = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "app", image: "x:1" }] } };
  return { metadata, spec: { selector, template, ...spec } };
}
