import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  faultOfServer,
  maxPktBytes,
  type Pkt,
  pktLine,
  pktReader,
  textOf,
} from "../../../../lib/sources/git/pkt-line.ts";
import { inPieces } from "./pack-of.ts";

async function readAll(bytes: Uint8Array, pieceBytes?: number): Promise<Pkt[]> {
  const reader = pktReader(inPieces(bytes, pieceBytes));
  const found: Pkt[] = [];
  for (let pkt = await reader.next(); pkt !== undefined; pkt = await reader.next()) found.push(pkt);
  return found;
}

function framed(data: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from((data.length + 4).toString(16).padStart(4, "0")), data]);
}

describe("pkt-lines", () => {
  test("are parsed in whatever chunks they arrive", async () => {
    const pkt = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constantFrom("0000", "0001", "0002"));
    await fc.assert(
      fc.asyncProperty(fc.array(pkt, { maxLength: 20 }), fc.integer({ min: 1, max: 400 }), async (sent, pieceBytes) => {
        const bytes = Buffer.concat(sent.map((each) => (typeof each === "string" ? Buffer.from(each) : framed(each))));
        const expected = sent.map((each) =>
          typeof each === "string"
            ? { type: { "0000": "flush", "0001": "delim", "0002": "end" }[each] }
            : { type: "data", data: Buffer.from(each) },
        );
        expect(await readAll(bytes, pieceBytes)).toEqual(expected);
      }),
    );
  });

  test("are written in the format that is parsed", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 200 }), async (text) => {
        const [pkt] = await readAll(Buffer.from(pktLine(text)));
        expect(pkt).toEqual({ type: "data", data: Buffer.from(`${text}\n`) });
      }),
    );
  });

  test("have a maximum length, when parsed and when written", async () => {
    expect(await readAll(framed(Buffer.alloc(maxPktBytes - 4)))).toHaveLength(1);
    await expect(readAll(framed(Buffer.alloc(maxPktBytes - 3)))).rejects.toMatchObject({ reason: "protocol" });
    expect(pktLine("x".repeat(maxPktBytes - 5))).toHaveLength(maxPktBytes);
    expect(() => pktLine("x".repeat(maxPktBytes - 4))).toThrow(expect.objectContaining({ reason: "too-large" }));
  });

  test.each(["0003", "zzzz", "-001", "<htm", " 010", "0x10"])("must not start with %j", async (text) => {
    await expect(readAll(Buffer.from(`${text}data`))).rejects.toMatchObject({ name: "GitFault", reason: "protocol" });
  });

  test.each(["0", "000", "0006a", "0010"])("that are cut off (%j) fail", async (text) => {
    await expect(readAll(Buffer.from(text))).rejects.toMatchObject({
      reason: "protocol",
      message: "the answer of the git server broke off",
    });
  });

  test("do not consume bytes that follow them", async () => {
    const reader = pktReader(inPieces(Buffer.from("0006abPACK and more"), 7));
    await reader.next();
    const rest: Uint8Array[] = [];
    for await (const piece of reader.rest()) rest.push(piece);
    expect(Buffer.concat(rest).toString()).toBe("PACK and more");
  });
});

describe("an error line of a git server", () => {
  test.each([
    ["upload-pack: not our ref 1111111111111111111111111111111111111111", "missing"],
    ["Repository not found.", "not-found"],
    ["'/x' does not appear to be a git repository", "not-found"],
    ["access denied or repository not exported: /x", "authorization"],
    ["Too many requests, try again later", "unavailable"],
    ["hunter2", "protocol"],
  ])("%j gives the failure %s", (text, reason) => {
    expect(faultOfServer(text)).toMatchObject({ name: "GitFault", reason });
    expect(() => textOf(Buffer.from(`ERR ${text}\n`))).toThrow(expect.objectContaining({ reason }));
  });

  test("is not quoted, because it may contain anything", () => {
    expect(faultOfServer("token hunter2 not found").message).not.toContain("hunter2");
  });
});
