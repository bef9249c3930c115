import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { webhooksErrors } from "../../../src/rules/validation/webhooks.ts";

const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
const valid = {
  name: "a.example.com",
  clientConfig: { url: "https://hook.example.com/m" },
  rules: [rule],
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
};

const cases: readonly (readonly [name: string, change: JsonObject, errors: readonly string[]])[] = [
  ["a valid one", {}, []],
  [
    "an empty rule",
    { rules: [{}] },
    ["operations", "apiGroups", "apiVersions", "resources"].map(
      (field) => `webhooks[0].rules[0].${field}: Required value`,
    ),
  ],
  [
    "a wildcard next to others",
    { rules: [{ ...rule, operations: ["*", "CREATE"], resources: ["*", "pods"] }] },
    [
      `webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
      `webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`,
    ],
  ],
  [
    "an insecure address",
    { clientConfig: { url: "http://hook.example.com" } },
    [
      `webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
    ],
  ],
  [
    "a service without a name, which a real server calls its namespace",
    { clientConfig: { service: { namespace: "x" } } },
    ["webhooks[0].clientConfig.service.namespace: Required value"],
  ],
  [
    "conditions of one name, one of them empty",
    {
      matchConditions: [
        { name: "c", expression: "true" },
        { name: "c", expression: " " },
      ],
    },
    [
      "webhooks[0].matchConditions[1].expression: Required value",
      `webhooks[0].matchConditions[1].name: Duplicate value: "c"`,
    ],
  ],
];

describe("webhook configurations", () => {
  test.each(cases)("%s", (_, change, errors) => {
    const found = webhooksErrors({ webhooks: [{ ...valid, ...change }] });
    expect(found.map(({ field, message }) => `${field}: ${message}`)).toEqual(errors);
  });
});
