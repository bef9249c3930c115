import { describe, expect, test } from "vitest";
import { parseLabelSelector } from "../../../lib/core/label-selector.ts";

describe("a label selector in the API's notation", () => {
  test.each([
    { text: "app=web", is: [{ key: "app", operator: "In", values: ["web"] }] },
    { text: "app == web", is: [{ key: "app", operator: "In", values: ["web"] }] },
    { text: "app!=web", is: [{ key: "app", operator: "NotIn", values: ["web"] }] },
    { text: "app=", is: [{ key: "app", operator: "In", values: [""] }] },
    { text: "example.com/app", is: [{ key: "example.com/app", operator: "Exists" }] },
    { text: "!app", is: [{ key: "app", operator: "DoesNotExist" }] },
    {
      text: "tier in (a, b), old notin (c),app=web",
      is: [
        { key: "tier", operator: "In", values: ["a", "b"] },
        { key: "old", operator: "NotIn", values: ["c"] },
        { key: "app", operator: "In", values: ["web"] },
      ],
    },
  ])("$text", ({ text, is }) => {
    expect(parseLabelSelector(text)).toEqual(is);
  });

  test.each(["", " ", "a,", "a=b=c", "a in b", "a in (b", "-a", "a>1", "a b", "A.b/c/d=e", "a=$(x)"])(
    "refuses %j, which selects nothing or everything",
    (text) => {
      expect(parseLabelSelector(text)).toBeUndefined();
    },
  );
});
