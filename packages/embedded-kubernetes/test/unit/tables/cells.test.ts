import { describe, expect, test } from "vitest";
import { durationText } from "../../../src/tables/age.ts";
import { findByPath } from "../../../src/tables/json-path.ts";

test.each([
  [0, "0s"],
  [119, "119s"],
  [120, "2m"],
  [303, "5m3s"],
  [3_600, "60m"],
  [3 * 3_600, "3h"],
  [7 * 3_600 + 120, "7h2m"],
  [47 * 3_600, "47h"],
  [3 * 86_400 + 4 * 3_600, "3d4h"],
  [100 * 86_400, "100d"],
  [(2 * 365 + 30) * 86_400, "2y30d"],
  [9 * 365 * 86_400, "9y"],
  [-5, "<invalid>"],
])("an age of %d seconds is shown as %s", (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});

describe("a printer column's path", () => {
  const object = {
    spec: { size: 3, "a.b": "dotted", list: [{ name: "x" }, { name: "y" }] },
    status: {
      conditions: [
        { type: "Ready", status: "True" },
        { type: "Other", status: "False" },
      ],
    },
  };

  test.each([
    { path: ".spec.size", found: [3] },
    { path: ".spec.a\\.b", found: ["dotted"] },
    { path: ".spec['a.b']", found: ["dotted"] },
    { path: ".spec.list[0].name", found: ["x"] },
    { path: ".spec.list[-1].name", found: ["y"] },
    { path: ".spec.list[*].name", found: ["x", "y"] },
    { path: '.status.conditions[?(@.type=="Ready")].status', found: ["True"] },
    { path: ".status.conditions[?(@.type!='Ready')].status", found: ["False"] },
    { path: "{.spec.size}", found: [3] },
    { path: ".spec.absent.deeper", found: [] },
    { path: ".spec[", found: [] },
    { path: ".constructor", found: [] },
  ])("$path finds $found", ({ path, found }) => {
    expect(findByPath(object, path)).toEqual(found);
  });
});
