import { describe, expect, test } from "vitest";
import { maxExpressionChars, ReceiverSpec } from "../../../lib/api/receiver.ts";

const spec = { type: "generic", secretRef: { name: "token" }, resources: [{ kind: "GitRepository", name: "app" }] };

describe("the spec of a Receiver", () => {
  test("has an interval of ten minutes by default", () => {
    expect(ReceiverSpec.parse(spec)).toMatchObject({ interval: "10m" });
  });

  test.each([
    { name: "no resource, as in Flux", change: { resources: [] }, valid: true },
    {
      name: "a resource of a kind that no webhook can wake",
      change: { resources: [{ kind: "Alert", name: "a" }] },
      valid: false,
    },
    { name: "a resource without a name", change: { resources: [{ kind: "Bucket", name: "" }] }, valid: false },
    { name: "an unknown type", change: { type: "gitea" }, valid: false },
    {
      name: "an issuer that is not a URL",
      change: { oidcProviders: [{ issuerURL: "ftp://a", validations: [] }] },
      valid: false,
    },
    { name: "the longest filter", change: { resourceFilter: "x".repeat(maxExpressionChars) }, valid: true },
    { name: "a longer filter", change: { resourceFilter: "x".repeat(maxExpressionChars + 1) }, valid: false },
  ])("with $name is valid: $valid", ({ change, valid }) => {
    expect(ReceiverSpec.safeParse({ ...spec, ...change }).success).toBe(valid);
  });
});
