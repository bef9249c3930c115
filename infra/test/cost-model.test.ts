import { describe, expect, test } from "vitest";
import { assumptions } from "../../bench/cost/assumptions.ts";
import { stackResources } from "../../bench/cost/growth.ts";
import { SluiceStack } from "../lib/app-stack.ts";
import { checkedApp, prod, resourcesOf, templateOf } from "./synthesise.ts";

/** The stack of cdk.json with so many clusters of its own account. */
function stackWith(clusters: number, context: Readonly<Record<string, unknown>> = {}) {
  const given = Array.from({ length: clusters }, (_, index) => ({ arn: `${prod}-${index}`, rights: "namespaces" }));
  return templateOf(new SluiceStack(checkedApp({ clusters: given, ...context }), "Sluice"));
}

describe("the cost model of docs/cost.md", () => {
  test("counts with the memory that each function of the stack has", () => {
    const functions = Object.entries(
      resourcesOf(stackWith(1, { webhooks: true, notifications: true }), "AWS::Lambda::Function"),
    );
    for (const [name, gb] of Object.entries(assumptions.memoryGb)) {
      const described = functions.filter(([, { Properties }]) => Properties["Description"] === `Sluice: ${name}`);
      expect(described.map(([, { Properties }]) => [name, Properties["MemorySize"]])).toEqual([[name, gb * 1_024]]);
    }
  });

  test("counts the resources that the stack has for each cluster, and all others", () => {
    const { beside, ofCluster } = stackResources;
    for (const clusters of [1, 3]) {
      const { Resources } = stackWith(clusters);
      expect(Object.keys(Resources)).toHaveLength(beside + ofCluster * clusters);
    }
  });
});
