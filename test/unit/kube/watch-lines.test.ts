import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { warningsOf } from "../../../lib/kube/api-answer.ts";
import { linesOf } from "../../../lib/kube/watch-events.ts";

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size: number, maxBytes = 1_000_000): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(chunksOf(Buffer.from(text), size), maxBytes)) lines.push(line);
  return lines;
}

describe("the lines of a stream", () => {
  test("do not depend on how the bytes are split into chunks", async () => {
    const line = fc.string({ unit: "binary" }).map((text) => text.replaceAll("\n", ""));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 20 }), async (lines, size) => {
        expect(await read(lines.map((each) => `${each}\n`).join(""), size)).toEqual(lines);
      }),
    );
  });

  test("end with the rest of the stream", async () => {
    expect(await read("a\n\nb", 2)).toEqual(["a", "", "b"]);
    expect(await read("", 2)).toEqual([]);
  });

  test("are refused above their limit", async () => {
    await expect(read(`${"x".repeat(11)}\n`, 4, 10)).rejects.toThrow("a line is longer than 10 bytes");
    expect(await read(`${"x".repeat(10)}\n`, 4, 10)).toEqual(["x".repeat(10)]);
  });
});

describe("warnings of an API server", () => {
  test("are unquoted, whatever they contain", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (texts) => {
        const quoted = (text: string) => `299 - "${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
        const rawHeaders = texts.flatMap((text) => ["Warning", quoted(text), "x-other", "299 - none"]);
        expect(warningsOf({ rawHeaders })).toEqual(texts);
      }),
    );
  });
});
