import { expect, test } from "vitest";
import { parseHelmRelease } from "../../../lib/api/helm-release.ts";
import {
  maxDriftIgnoreRules,
  maxPostRenderers,
  maxReleaseDependencies,
  maxReleaseHealthRules,
  maxValuesReferences,
} from "../../../lib/api/helm-release-spec.ts";

function parsed(spec: object) {
  return parseHelmRelease({
    apiVersion: "helm.toolkit.fluxcd.io/v2",
    kind: "HelmRelease",
    metadata: { name: "app", namespace: "apps", uid: "u" },
    spec: { interval: "1m", chartRef: { kind: "OCIRepository", name: "app" }, ...spec },
  });
}

const many = <Item>(count: number, item: Item): readonly Item[] => Array.from({ length: count }, () => item);

test.each([
  [
    "spec.valuesFrom",
    maxValuesReferences,
    (count: number) => ({ valuesFrom: many(count, { kind: "ConfigMap", name: "a" }) }),
  ],
  ["spec.postRenderers", maxPostRenderers, (count: number) => ({ postRenderers: many(count, {}) })],
  ["spec.dependsOn", maxReleaseDependencies, (count: number) => ({ dependsOn: many(count, { name: "a" }) })],
  [
    "spec.healthCheckExprs",
    maxReleaseHealthRules,
    (count: number) => ({ healthCheckExprs: many(count, { apiVersion: "v1", kind: "A", current: "true" }) }),
  ],
  [
    "spec.driftDetection.ignore",
    maxDriftIgnoreRules,
    (count: number) => ({ driftDetection: { ignore: many(count, { paths: ["/spec"] }) } }),
  ],
])("%s of a HelmRelease has at most %d items", (field, max, specOf) => {
  expect(() => parsed(specOf(max))).not.toThrow();
  expect(() => parsed(specOf(max + 1))).toThrow(`${field}: has ${max + 1} items, ${max} are allowed`);
});
