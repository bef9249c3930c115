import { describe, expect, test } from "vitest";
import { CborTag, maxCborDepth, readCbor } from "../../../../lib/sources/oci/verify/notation/cbor.ts";

const hex = (text: string) => readCbor(Buffer.from(text, "hex"));

describe("CBOR", () => {
  test.each([
    ["00", 0n],
    ["1903e8", 1_000n],
    ["3903e7", -1_000n],
    ["1bffffffffffffffff", 2n ** 64n - 1n],
    ["4401020304", new Uint8Array([1, 2, 3, 4])],
    ["62c3bc", "ü"],
    ["83010203", [1n, 2n, 3n]],
    [
      "a201020304",
      new Map([
        [1n, 2n],
        [3n, 4n],
      ]),
    ],
    ["c11a514b67b0", new CborTag(1n, 1_363_896_240n)],
    ["f4", false],
    ["f5", true],
    ["f6", null],
  ])("%s", (text, value) => {
    expect(hex(text)).toEqual(value);
  });

  test.each([
    ["", "CBOR ends too early"],
    ["0000", "there are bytes behind the CBOR value"],
    ["43ffff", "CBOR ends too early"],
    ["5bffffffffffffffff00", "CBOR ends too early"],
    ["9bffffffffffffffff00", "CBOR ends too early"],
    ["9f01ff", "CBOR of open length is not supported"],
    ["f93c00", "CBOR holds a value of an unsupported type"],
    ["a201010102", "a key in CBOR is there twice"],
    ["a18001", "a key in CBOR is neither number nor text"],
    [`${"81".repeat(maxCborDepth + 1)}00`, `CBOR is nested more than ${maxCborDepth} levels deep`],
  ])("%s is refused", (text, why) => {
    expect(() => hex(text)).toThrow(why);
  });

  test("a text that is not UTF-8 is refused", () => {
    expect(() => hex("61ff")).toThrow(TypeError);
  });
});
