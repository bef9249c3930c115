import { describe, expect, test } from "vitest";
import { parseKustomization } from "../../../lib/api/kustomization.ts";
import * as limits from "../../../lib/api/kustomization-spec.ts";

const minimal = { interval: "1m", prune: true, sourceRef: { kind: "OCIRepository", name: "web" } };

function parse(spec: object) {
  return parseKustomization({
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: { name: "app", namespace: "apps", uid: "u", resourceVersion: "1" },
    spec: { ...minimal, ...spec },
  });
}

function list<Item>(count: number, item: Item): Item[] {
  return Array.from({ length: count }, () => item);
}

function map(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));
}

/** A patch whose JSON has so many bytes. */
function patchOf(bytes: number): object {
  return { patch: "x".repeat(bytes - '{"patch":""}'.length) };
}

describe("an exceeded limit of a spec is named with the allowed amount", () => {
  test.each([
    {
      field: "spec.patches",
      max: limits.maxPatches,
      unit: "items",
      spec: (count: number) => ({ patches: list(count - 2, patchOf(20)), patchesStrategicMerge: [{ a: 1 }, "b: 1"] }),
    },
    {
      field: "spec.patches",
      max: limits.maxPatchBytes,
      unit: "bytes",
      spec: (bytes: number) => ({ patches: [patchOf(bytes - 1_000), patchOf(1_000)] }),
    },
    {
      field: "spec.images",
      max: limits.maxImages,
      unit: "items",
      spec: (count: number) => ({ images: list(count, { name: "nginx" }) }),
    },
    {
      field: "spec.postBuild.substituteFrom",
      max: limits.maxVariableSources,
      unit: "items",
      spec: (count: number) => ({ postBuild: { substituteFrom: list(count, { kind: "ConfigMap", name: "a" }) } }),
    },
    {
      field: "spec.ignore",
      max: limits.maxIgnoreRules,
      unit: "items",
      spec: (count: number) => ({ ignore: list(count, { paths: [] }) }),
    },
    {
      field: "spec.ignore[0].paths",
      max: limits.maxIgnoredPaths,
      unit: "items",
      spec: (count: number) => ({ ignore: [{ paths: list(count, "/a") }] }),
    },
    {
      field: "spec.ignore[1].target",
      max: limits.maxSelectorLength,
      unit: "characters",
      spec: (count: number) => ({
        ignore: [{ paths: [] }, { paths: [], target: { kind: "A", name: "x".repeat(count) } }],
      }),
    },
    {
      field: "spec.components",
      max: limits.maxComponents,
      unit: "items",
      spec: (count: number) => ({ components: list(count, "../a") }),
    },
    {
      field: "spec.commonMetadata.labels",
      max: limits.maxCommonMetadata,
      unit: "items",
      spec: (count: number) => ({ commonMetadata: { labels: map(count) } }),
    },
    {
      field: "spec.commonMetadata.annotations",
      max: limits.maxCommonMetadata,
      unit: "items",
      spec: (count: number) => ({ commonMetadata: { annotations: map(count) } }),
    },
    {
      field: "spec.dependsOn",
      max: limits.maxDependencies,
      unit: "items",
      spec: (count: number) => ({ dependsOn: list(count, { name: "a" }) }),
    },
    {
      field: "spec.healthChecks",
      max: limits.maxHealthChecks,
      unit: "items",
      spec: (count: number) => ({ healthChecks: list(count, { kind: "Job", name: "a" }) }),
    },
    {
      field: "spec.healthCheckExprs",
      max: limits.maxHealthRules,
      unit: "items",
      spec: (count: number) => ({ healthCheckExprs: list(count, { apiVersion: "v1", current: "true" }) }),
    },
    {
      field: "spec.path",
      max: limits.maxPathLength,
      unit: "characters",
      spec: (length: number) => ({ path: "a".repeat(length) }),
    },
  ])("$field: $max $unit", ({ field, max, unit, spec }) => {
    expect(() => parse(spec(max - 1))).not.toThrow();
    expect(() => parse(spec(max))).not.toThrow();
    expect(() => parse(spec(max + 1))).toThrow(
      `${field}: has ${max + 1} ${unit}, ${max} are allowed; correct the object`,
    );
  });
});
