import { expect, test } from "vitest";
import { tableInstallation } from "../../../functions/lambda/own-cluster.ts";
import { functionEnvironment } from "../../doubles/function-environment.ts";

test("an installation in AWS is that of its table, by account and region, and its log can say how to give it a cluster", () => {
  const { id, takeOverCommand } = tableInstallation(functionEnvironment);
  expect(id).toBe("123456789012/eu-west-1/sluice");
  expect(takeOverCommand).toBe("sluice take-over --installation 123456789012/eu-west-1/sluice");
  const others = [
    { ...functionEnvironment, SLUICE_TABLE: "other" },
    { ...functionEnvironment, AWS_REGION: "eu-north-1" },
    { ...functionEnvironment, SLUICE_QUEUE_URL: "https://sqs.eu-west-1.amazonaws.com/210987654321/reconcile" },
  ].map((config) => tableInstallation(config).id);
  expect(new Set([id, ...others]).size).toBe(4);
});
