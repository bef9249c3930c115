import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConversionError } from "../../../src/core/conversion-error.ts";
import { canonicalQuantity, parseQuantity } from "../../../src/core/quantity.ts";

describe("the canonical notation of a quantity", () => {
  test.each([
    ["1000m", "1"],
    ["1024Mi", "1Gi"],
    ["0.5", "500m"],
    ["1.5Gi", "1536Mi"],
    ["0.5Ki", "512"],
    ["100Ki", "100Ki"],
    ["1e3", "1e3"],
    ["1500", "1500"],
    ["2000k", "2M"],
    ["0.1n", "1n"],
    ["-1000m", "-1"],
    ["0Gi", "0"],
    [" 10 ", "10"],
    ["1000Ki", "1000Ki"],
    ["1937.5Ki", "1984k"],
  ])("of %s is %s", (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
  });

  test("a JSON number is a quantity too", () => {
    expect([canonicalQuantity(1), canonicalQuantity(0.25)]).toEqual(["1", "250m"]);
  });

  test.each([
    ["one", /must match the regular expression/],
    ["", /must match the regular expression/],
    ["1Zi", /must match the regular expression/],
    ["1kM", /suffix/],
    ["Gi", /must match the regular expression|numeric part/],
  ])("%j is refused with Go's text", (text, words) => {
    expect(() => canonicalQuantity(text)).toThrow(words);
    expect(() => canonicalQuantity(text)).toThrow(ConversionError);
  });

  const quantities = fc
    .tuple(
      fc.integer({ min: -1_000_000, max: 1_000_000 }),
      fc.integer({ min: 0, max: 999 }),
      fc.constantFrom("", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "e3", "e-3"),
    )
    .map(([whole, fraction, suffix]) => `${whole}.${fraction}${suffix}`);

  test("is stable: converting it again changes nothing", () => {
    fc.assert(
      fc.property(quantities, (text) => {
        expect(canonicalQuantity(canonicalQuantity(text))).toBe(canonicalQuantity(text));
      }),
    );
  });

  test("keeps the value, up to whole bytes in binary notation", () => {
    fc.assert(
      fc.property(quantities, (text) => {
        const before = parseQuantity(text);
        const after = parseQuantity(canonicalQuantity(text)).nanos;
        const difference = after > before.nanos ? after - before.nanos : before.nanos - after;
        expect(difference < (before.format === "BinarySI" ? 10n ** 9n : 1n)).toBe(true);
      }),
    );
  });
});
