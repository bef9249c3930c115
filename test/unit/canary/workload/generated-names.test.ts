import { expect, it } from "vitest";
import { CanarySpec } from "../../../../lib/api/canary.ts";
import type { Canary } from "../../../../lib/canary/canary.ts";
import { checkGeneratedNames } from "../../../../lib/canary/workload/generated-names.ts";

const most = "x".repeat(55);

function check({ kind = "Deployment", name = "podinfo", service = "", labelValue = "podinfo" }): void {
  const spec = CanarySpec.parse({
    targetRef: { apiVersion: "apps/v1", kind, name },
    service: { port: 80, ...(service === "" ? {} : { name: service }) },
    analysis: { interval: "10s", threshold: 1, stepWeight: 10 },
  });
  const metadata = { name: "podinfo", namespace: "apps", uid: "1" };
  const live = { apiVersion: "flagger.app/v1beta1", kind: "Canary", metadata };
  const canary: Canary = { live, ...metadata, spec, analysis: spec.analysis, status: {} };
  checkGeneratedNames(canary, { label: "app", labelValue, ports: new Map() });
}

it.each([
  [
    "the target's name, which the Services have",
    { name: `${most}y` },
    `the Service ${most}y-primary has 64 characters, and 63 are the most: give spec.service.name a value of at most 55 characters`,
  ],
  [
    "the label that tells pods apart",
    { labelValue: `${most}y` },
    `the value of the label app of the primary's pods ${most}y-primary has 64 characters, and 63 are the most: give the label app of the selector of Deployment podinfo a value of at most 55 characters`,
  ],
  [
    "a target that is a Service",
    { kind: "Service", name: `${most}y` },
    `the Service ${most}y-primary has 64 characters, and 63 are the most: give the target a name of at most 55 characters`,
  ],
])("one error names %s if it is too long for the names derived from it", (_, given, why) => {
  expect(() => check(given)).toThrow(`Canary podinfo.apps cannot be released: ${why}`);
});

it.each([
  { name: most, labelValue: most },
  { kind: "Service", name: most },
  { name: `${most}y`, service: "short" },
])("names of at most 63 characters are accepted: %j", (given) => {
  expect(() => check(given)).not.toThrow();
});
