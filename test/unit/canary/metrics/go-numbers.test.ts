import { expect, test } from "vitest";
import { fixed2, goFloat, parseGoFloat } from "../../../../lib/canary/metrics/providers/go-numbers.ts";

// Each was printed by Go.
test.each([
  [50.125, "50.12"],
  [50.135, "50.13"],
  [0.005, "0.01"],
  [0.015, "0.01"],
  [2.675, "2.67"],
  [0.125, "0.12"],
  [0.375, "0.38"],
  [-0.125, "-0.12"],
  [99.999, "100.00"],
  [1e22, "10000000000000000000000.00"],
  [5e-324, "0.00"],
  [1_000_000_000_000.625, "1000000000000.62"],
  [2 ** 53, "9007199254740992.00"],
  [Number.POSITIVE_INFINITY, "+Inf"],
])("the number %d with two decimals is %s, as in Go", (value, text) => {
  expect(fixed2(value)).toBe(text);
});

test.each([
  [500, "500"],
  [99.5, "99.5"],
  [100_000, "100000"],
  [999_999.5, "999999.5"],
  [1_000_000, "1e+06"],
  [1_234_567.5, "1.2345675e+06"],
  [0.0001, "0.0001"],
  [0.00001, "1e-05"],
  [0.00001234, "1.234e-05"],
  [1e21, "1e+21"],
  [0, "0"],
  [-1.5, "-1.5"],
])("the number %d is printed as %s, as in Go", (value, text) => {
  expect(goFloat(value)).toBe(text);
});

const faultOf = (read: () => number): string | number => {
  try {
    return read();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

test.each([
  ["1.5", 1.5],
  ["-2e3", -2_000],
  [".5", 0.5],
  ["+Inf", Number.POSITIVE_INFINITY],
  ["-infinity", Number.NEGATIVE_INFINITY],
  ["nan", Number.NaN],
  ["abc", 'strconv.ParseFloat: parsing "abc": invalid syntax'],
  ["", 'strconv.ParseFloat: parsing "": invalid syntax'],
  [" 1", 'strconv.ParseFloat: parsing " 1": invalid syntax'],
  ["1e400", 'strconv.ParseFloat: parsing "1e400": value out of range'],
])("the text %j is parsed as the number %s, as in Go", (text, value) => {
  expect(faultOf(() => parseGoFloat(text))).toBe(value);
});
