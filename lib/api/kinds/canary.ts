import { promoteAnnotation, rollbackAnnotation } from "../names.ts";
import type { KindDeclaration } from "./declaration.ts";
import { flaggerParts } from "./flagger-parts.ts";

const analysis = ".spec.analysis";

export const declaredCanary = {
  ...flaggerParts,
  kind: "Canary",
  plural: "canaries",
  description: "Canary releases a workload step by step, and takes the step back if checks fail.",
  columns: [
    { name: "Status", type: "string", jsonPath: ".status.phase" },
    { name: "Weight", type: "string", jsonPath: ".status.canaryWeight" },
    { name: "Suspended", type: "boolean", jsonPath: ".spec.suspend", priority: 1 },
    { name: "FailedChecks", type: "string", jsonPath: ".status.failedChecks", priority: 1 },
    { name: "Interval", type: "string", jsonPath: `${analysis}.interval`, priority: 1 },
    { name: "Mirror", type: "boolean", jsonPath: `${analysis}.mirror`, priority: 1 },
    { name: "StepWeight", type: "string", jsonPath: `${analysis}.stepWeight`, priority: 1 },
    { name: "StepWeights", type: "string", jsonPath: `${analysis}.stepWeights`, priority: 1 },
    { name: "MaxWeight", type: "string", jsonPath: `${analysis}.maxWeight`, priority: 1 },
    { name: "LastTransitionTime", type: "string", jsonPath: ".status.lastTransitionTime" },
  ],
  schemas: async () => {
    const { CanarySpec, CanaryStatus } = await import("../canary.ts");
    return { spec: CanarySpec, status: CanaryStatus };
  },
  readyCondition: "Promoted",
  // The spec is followed because another Canary may have the same target.
  isSpecFollowed: true,
  followedAnnotations: [promoteAnnotation, rollbackAnnotation],
  words: {
    one: "canary",
    many: "canaries",
    aliases: [],
    plural: "Canaries",
    revision: ["status", "phase"],
    done: "reached",
    shown: [
      { title: "Status", path: ["status", "phase"] },
      { title: "Weight", path: ["status", "canaryWeight"] },
      "suspended",
      { title: "FailedChecks", path: ["status", "failedChecks"], isWide: true },
      { title: "Interval", path: ["spec", "analysis", "interval"], isWide: true },
      { title: "Mirror", path: ["spec", "analysis", "mirror"], isWide: true },
      { title: "StepWeight", path: ["spec", "analysis", "stepWeight"], isWide: true },
      { title: "StepWeights", path: ["spec", "analysis", "stepWeights"], isWide: true },
      { title: "MaxWeight", path: ["spec", "analysis", "maxWeight"], isWide: true },
      { title: "LastTransitionTime", path: ["status", "lastTransitionTime"] },
    ],
  },
} as const satisfies KindDeclaration;
