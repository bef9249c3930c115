import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutText, maxMessageBytes } from "../../../lib/core/cut-text.ts";
import { Failure, messageOf } from "../../../lib/core/failure.ts";
import { maxLoggedBytes, writeLog } from "../../../lib/process/write-log.ts";

test("a text within its limit stays unchanged, a longer one is cut between two characters and ends with dots", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.integer({ min: 3, max: 100 }), (text, maxBytes) => {
      const cut = cutText(text, maxBytes);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(maxBytes);
      const isCut = cut.endsWith("...") && text.startsWith(cut.slice(0, -3));
      expect(Buffer.byteLength(text) <= maxBytes ? cut === text : isCut).toBe(true);
    }),
  );
});

describe("the length of the message", () => {
  const [at, above] = ["x".repeat(maxMessageBytes), "x".repeat(maxMessageBytes + 1)];
  const cut = `${"x".repeat(maxMessageBytes - 3)}...`;

  test("of a failure is limited", () => {
    expect(new Failure("BuildFailed", at).message).toBe(at);
    expect(new Failure("BuildFailed", above).message).toBe(cut);
  });

  test("of any thrown error is limited", () => {
    expect(messageOf(new Error(at))).toBe(at);
    expect(messageOf(new Error(above))).toBe(cut);
    expect(messageOf(above)).toBe(cut);
  });

  test("of a log line and of each text in its fields is limited", () => {
    const lines: string[] = [];
    const log = writeLog((line) => lines.push(line), "info");
    const long = "y".repeat(maxLoggedBytes);
    log.info(long, { error: `${long}y`, objects: [long, `${long}y`] });
    expect(JSON.parse(lines.join(""))).toMatchObject({
      message: long,
      error: `${long.slice(3)}...`,
      objects: [long, `${long.slice(3)}...`],
    });
  });
});
