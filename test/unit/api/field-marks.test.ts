import { expect, test } from "vitest";
import { z } from "zod";
import { limited, notYet, overLimits, unsupportedFields } from "../../../lib/api/field-marks.ts";

const Item = z.object({
  name: limited(z.string(), { max: 3, unit: "characters" }),
  when: notYet(z.string().default("")),
});
const Spec = z.object({
  items: limited(z.array(Item).exactOptional(), { max: 2, unit: "items" }),
  mode: notYet(z.enum(["plain", "odd"]).exactOptional(), (mode) => mode === "odd"),
});

test("a reference mark is found at any depth, and named with the index of its item", () => {
  const spec = { items: [{ name: "a" }, { name: "b", when: "later" }], mode: "odd" };
  expect(unsupportedFields(Spec, spec)).toEqual(["spec.items[1].when", "spec.mode"]);
  expect(unsupportedFields(Spec, { items: [{ name: "a", when: "" }], mode: "plain" })).toEqual([]);
  expect(unsupportedFields(Spec, {})).toEqual([]);
});

test("every exceeded limit is named", () => {
  expect(overLimits(Spec, { items: [{ name: "abcd" }, { name: "b" }, { name: "c" }] })).toEqual([
    "spec.items: has 3 items, 2 are allowed",
    "spec.items[0].name: has 4 characters, 3 are allowed",
  ]);
  expect(overLimits(Spec, { items: [{ name: "abc" }] })).toEqual([]);
});
