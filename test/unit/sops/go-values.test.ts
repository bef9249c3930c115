import { expect, test } from "vitest";
import { goTime, plainFloat, shortFloat, shownScalar } from "../../../lib/sops/go-values.ts";
import { SopsTime } from "../../../lib/sops/tree.ts";

test.each([
  ["2024-02-29T12:30:00Z", "2024-02-29T12:30:00Z"],
  ["2024-02-29T12:30:00.25Z", "2024-02-29T12:30:00.25Z"],
  ["2024-02-29T12:30:00.2500Z", "2024-02-29T12:30:00.25Z"],
  ["2024-02-29T12:30:00.000Z", "2024-02-29T12:30:00Z"],
  ["2024-02-29T12:30:00.010Z", "2024-02-29T12:30:00.01Z"],
  ["2024-02-29T12:30:00.123456789+02:00", "2024-02-29T12:30:00.123456789+02:00"],
  ["2024-02-29T12:30:00+00:00", "2024-02-29T12:30:00Z"],
  ["2024-02-29T12:30:00-00:30", "2024-02-29T12:30:00-00:30"],
  ["2024-02-29T12:30:00+23:59", "2024-02-29T12:30:00+23:59"],
])("the time %s is printed as %s, and without its fraction where sops prints seconds", (text, nano) => {
  expect(goTime(text)).toEqual({ nano, seconds: nano.replace(/\.\d+/, "") });
});

test.each([
  ...["2023-02-29", "2100-02-29", "1900-02-29", "2024-02-30", "2024-04-31", "2024-06-31", "2024-09-31", "2024-11-31"],
  ...["2024-01-32", "2024-12-32", "2024-01-00", "2024-00-01", "2024-13-01"],
])("%s is not a valid date", (day) => {
  expect(goTime(`${day}T00:00:00Z`)).toBeUndefined();
});

test.each(["2024-02-29", "2000-02-29", "2023-02-28", "2024-01-31", "2024-04-30", "2024-12-31"])(
  "%s is a valid date",
  (day) => {
    expect(goTime(`${day}T23:59:59Z`)?.seconds).toBe(`${day}T23:59:59Z`);
  },
);

test.each([
  ...["2024-01-01", "2024-01-01T00:00:00", "2024-01-01 00:00:00Z", "2024-1-1T00:00:00Z", "2024-01-01T00:00:00.Z"],
  ...["2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z", "2024-01-01T00:00:60Z", "2024-01-01T00:00:00.1234567890Z"],
  ...["2024-01-01T00:00:00+24:00", "2024-01-01T00:00:00+00:60", "2024-01-01T00:00:00z", ""],
])("'%s' is not a time of RFC 3339", (text) => {
  expect(goTime(text)).toBeUndefined();
});

test.each([
  [0, "0", "0", "0.0"],
  [-0, "-0", "-0", "-0.0"],
  [3, "3", "3", "3.0"],
  [-1.5, "-1.5", "-1.5", "-1.5"],
  [123456, "123456", "123456", "123456.0"],
  [1e6, "1000000", "1e+06", "1E+06"],
  [1234567.5, "1234567.5", "1.2345675e+06", "1.2345675E+06"],
  [0.0001, "0.0001", "0.0001", "0.0001"],
  [0.00001, "0.00001", "1e-05", "1E-05"],
  [1e21, "1000000000000000000000", "1e+21", "1E+21"],
  [-2.5e-7, "-0.00000025", "-2.5e-07", "-2.5E-07"],
  [1e100, `1${"0".repeat(100)}`, "1e+100", "1E+100"],
  [Number.NaN, "NaN", "NaN", "NaN"],
  [Number.POSITIVE_INFINITY, "+Inf", "+Inf", "+Inf"],
  [Number.NEGATIVE_INFINITY, "-Inf", "-Inf", "-Inf"],
])("the float %d is %s in a MAC, %s in YAML and %s in formats without types", (value, plain, short, shown) => {
  expect([plainFloat(value), shortFloat(value), shownScalar(value)]).toEqual([plain, short, shown]);
});

test.each([
  ["<nil>", null],
  ["true", true],
  ["-7", -7n],
  ["text", "text"],
  ["2024-02-29T12:30:00Z", new SopsTime("2024-02-29T12:30:00.25Z")],
  ["[1 255]", Buffer.from([1, 255])],
])("a value without a type is printed as in Go: %s", (text, value) => {
  expect(shownScalar(value)).toBe(text);
});
