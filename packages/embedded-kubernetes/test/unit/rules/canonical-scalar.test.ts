import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalBase64, canonicalTime } from "../../../src/rules/canonical-scalar.ts";

describe("base64", () => {
  test("any bytes are decoded and encoded unchanged", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = Buffer.from(bytes).toString("base64");
        expect(canonicalBase64(text)).toBe(text);
      }),
    );
  });

  test("line breaks are dropped", () => {
    expect(canonicalBase64("YWJj\nZGVm\r\n")).toBe("YWJjZGVm");
  });

  test.each([
    ["not base64!", 3],
    ["***", 0],
    ["v", 0],
    ["YWJjZ", 4],
    ["YQ=", 3],
    ["YWJj=", 4],
    ["YQ==YQ==", 4],
  ])("%j is invalid at byte %i", (text, byte) => {
    expect(() => canonicalBase64(text)).toThrow(`illegal base64 data at input byte ${byte}`);
  });
});

describe("times", () => {
  test.each([
    ["2026-01-02T03:04:05+02:00", "creationTimestamp", "2026-01-02T01:04:05Z"],
    ["2026-01-02T03:04:05.678Z", "startTime", "2026-01-02T03:04:05Z"],
    ["2026-01-02T03:04:05Z", "renewTime", "2026-01-02T03:04:05.000000Z"],
    ["2026-01-02T03:04:05.1234567Z", "eventTime", "2026-01-02T03:04:05.123456Z"],
  ])("%s of %s is written %s", (text, field, written) => {
    expect(canonicalTime(text, field)).toBe(written);
  });

  test.each([
    ["yesterday", 'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"'],
    ["2026-01-02", 'parsing time "2026-01-02" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'],
    ["2026-02-30T00:00:00Z", 'parsing time "2026-02-30T00:00:00Z": day out of range'],
    ["2026-01-02T03:04:05Z!", 'parsing time "2026-01-02T03:04:05Z!": extra text: "!"'],
  ])("%s is not a time", (text, message) => {
    expect(() => canonicalTime(text, "startTime")).toThrow(message);
  });
});
