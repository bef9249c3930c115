import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { timeSlices } from "../../../../../lib/core/concurrency.ts";
import { parseAuthorizedKeys } from "../../../../../lib/sources/git/verify/authorized-keys.ts";
import { ecdsaSigner, ed25519Signer, mpint, rsaSigner, wire } from "./ssh-signer.ts";

const one = ed25519Signer();
const two = ecdsaSigner(256);
const parse = (file: string) => parseAuthorizedKeys(file, timeSlices());
const [type = "", base64 = ""] = one.line.split(" ");

describe("an authorized_keys file", () => {
  test.each([
    { what: "a key with a comment", file: one.line },
    { what: "a key alone", file: `${type} ${base64}` },
    { what: "tabs, spaces and CRLF around it", file: `  \t${type}\t ${base64}\r\n\r\n` },
    { what: "options", file: `restrict,command="echo \\"a b\\" c",no-pty ${type} ${base64} x` },
    { what: "a signer's name before the key, as in allowed_signers", file: `alice@example.com ${type} ${base64}` },
    { what: "comments and empty lines", file: `# a\n\n   # b\n${one.line}` },
  ])("with $what has the key", async ({ file }) => {
    expect((await parse(file)).map(({ blob }) => blob)).toEqual([one.blob]);
  });

  test("with many keys lets other work run in between", async () => {
    let pauses = 0;
    const slices = { isOver: () => true, pause: async () => void pauses++ };
    expect(await parseAuthorizedKeys(`${one.line}\n`.repeat(10), slices)).toHaveLength(10);
    expect(pauses).toBe(10);
  });

  test("returns its keys in order", async () => {
    expect((await parse(`${two.line}\n${one.line}\n`)).map(({ blob }) => blob)).toEqual([two.blob, one.blob]);
  });

  const dsa = wire("ssh-dss", Buffer.from([1]), Buffer.from([1]), Buffer.from([1]), Buffer.from([1]));
  const offCurve = wire("ecdsa-sha2-nistp256", "nistp256", Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]));
  const otherCurve = wire("ecdsa-sha2-nistp256", "nistp384", Buffer.concat([Buffer.from([4]), Buffer.alloc(96, 1)]));
  const even = wire("ssh-rsa", Buffer.from([4]), mpint(Buffer.alloc(256, 0xff)));
  const n = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey.export({ format: "jwk" }).n ?? "";
  const short = wire("ssh-rsa", Buffer.from([1, 0, 1]), mpint(Buffer.from(n, "base64url")));
  const long = wire("ssh-rsa", Buffer.from([1, 0, 1]), mpint(Buffer.alloc(1025, 0xff)));
  const keyLine = (blob: Buffer): string => `ssh-x ${blob.toString("base64")}`;
  test.each([
    { what: "a word", file: "word", says: "ssh: no key found" },
    { what: "an unmatched quote", file: `command="x ${type} ${base64}`, says: "ssh: no key found" },
    { what: "no base64", file: `${type} AAAA*`, says: "illegal base64 data" },
    { what: "a key that is cut off", file: `${type} ${base64.slice(0, -4)}`, says: "ssh: short read" },
    {
      what: "more bytes behind the key",
      file: keyLine(Buffer.concat([one.blob, Buffer.alloc(1)])),
      says: "trailing junk",
    },
    { what: "an Ed25519 key of 31 bytes", file: keyLine(wire(type, Buffer.alloc(31))), says: "invalid size 31" },
    { what: "a DSA key", file: keyLine(dsa), says: 'unknown key algorithm: "ssh-dss"' },
    { what: "a point off its curve", file: keyLine(offCurve), says: "ssh: invalid curve point" },
    { what: "two curves", file: keyLine(otherCurve), says: "ssh: unsupported curve" },
    { what: "an even exponent", file: keyLine(even), says: "ssh: incorrect exponent" },
    { what: "an RSA key of 1024 bits", file: keyLine(short), says: "an RSA key of 1024 bits is too weak" },
    { what: "an RSA key of 8200 bits", file: keyLine(long), says: "ssh: rsa modulus too large" },
  ])("with $what among its keys is refused as a whole", async ({ file, says }) => {
    await expect(parse(`${one.line}\n${file}\n`)).rejects.toThrow(/^unable to parse authorized key: ssh: /);
    await expect(parse(`${one.line}\n${file}\n`)).rejects.toThrow(says);
  });

  test("accepts the longest usual RSA key", async () => {
    expect(await parse(rsaSigner(4096).line)).toHaveLength(1);
  });

  test("has limits for its lines and keys", async () => {
    await expect(parse(`${one.line} ${"x".repeat(20_000)}`)).rejects.toThrow("line 1 has more than 16384 characters");
    await expect(parse(`${one.line}\n`.repeat(5001))).rejects.toThrow("there are more than 5000 keys");
  });
});
