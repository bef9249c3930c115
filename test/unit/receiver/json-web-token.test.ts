import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import {
  isSignedBy,
  maxKeyIdChars,
  maxKeys,
  maxRsaBits,
  maxRsaExponent,
  maxTriedKeys,
  parseToken,
  publicKeys,
} from "../../../lib/receiver/json-web-token.ts";
import { rsa, signedToken } from "./token-issuer.ts";

const jwk = rsa.publicKey.export({ format: "jwk" });

test.each([
  { named: "one", of: "one", isTaken: true },
  { named: "one", of: "one-old", isTaken: false },
  { named: "one", of: "", isTaken: false },
  { named: "one", of: undefined, isTaken: false },
  { named: "", of: "one", isTaken: true },
  { named: undefined, of: "one", isTaken: true },
  { named: undefined, of: undefined, isTaken: true },
])(
  "a token that names the key $named is accepted with a signature by the key $of: $isTaken",
  ({ named, of, isTaken }) => {
    const header = { alg: "RS256", ...(named === undefined ? {} : { kid: named }) };
    const keys = publicKeys({ keys: [{ ...jwk, ...(of === undefined ? {} : { kid: of }) }] });
    expect(isSignedBy(parseToken(signedToken(rsa.privateKey, header, {})), keys)).toBe(isTaken);
  },
);

test.each([
  { use: "sig", count: 1 },
  { use: undefined, count: 1 },
  { use: "enc", count: 0 },
])("a key for the use $use is accepted: $count", ({ use, count }) => {
  expect(publicKeys({ keys: [{ ...jwk, ...(use === undefined ? {} : { use }) }] })).toHaveLength(count);
});

test("a token may have 65536 characters and no more", () => {
  const head = `${Buffer.from('{"alg":"RS256"}').toString("base64url")}.e30.`;
  const ofLength = (chars: number): string => head + "A".repeat(chars - head.length);
  expect(parseToken(ofLength(65_536)).payload).toBe("{}");
  expect(() => parseToken(ofLength(65_537))).toThrow("token is not a JWT");
});

test("the name of a key may have 1024 characters and no more, in a token and in a set", () => {
  const named = (kid: string) => parseToken(signedToken(rsa.privateKey, { alg: "RS256", kid }, {}));
  const keysOf = (kid: string) => publicKeys({ keys: [{ ...jwk, kid }, jwk] });
  expect(isSignedBy(named("k".repeat(maxKeyIdChars)), keysOf("k".repeat(maxKeyIdChars)))).toBe(true);
  expect(() => named("k".repeat(maxKeyIdChars + 1))).toThrow("failed to parse token header");
  expect(keysOf("k".repeat(maxKeyIdChars + 1))).toHaveLength(1);
});

test("a set may have 100 keys and no more, of any type", () => {
  const set = (count: number, key: object) => ({ keys: Array.from({ length: count }, () => key) });
  expect(publicKeys(set(maxKeys, jwk))).toHaveLength(maxKeys);
  expect(() => publicKeys(set(maxKeys + 1, jwk))).toThrow("keys");
  expect(() => publicKeys(set(maxKeys + 1, { kty: "unknown" }))).toThrow("keys");
});

const base64 = (hex: string): string => Buffer.from(hex, "hex").toString("base64url");
const modulusOf = (bits: number): string => Buffer.alloc(bits / 8, 255).toString("base64url");

test.each([
  { what: "the exponent 2^31 - 1", key: { e: base64("7fffffff") }, count: 1 },
  { what: "the exponent 2^31", key: { e: base64("80000000") }, count: 0 },
  { what: "an exponent as long as its modulus", key: { e: jwk.n }, count: 0 },
  { what: "a modulus of 8192 bits", key: { n: modulusOf(maxRsaBits) }, count: 1 },
  { what: "a modulus of 8200 bits", key: { n: modulusOf(maxRsaBits + 8) }, count: 0 },
])("an RSA key with $what is accepted: $count", ({ key, count }) => {
  expect(maxRsaExponent).toBe(0x7fffffff);
  expect(publicKeys({ keys: [{ ...jwk, ...key }] })).toHaveLength(count);
});

test.each([{ kid: "one" }, {}])(
  "a token with the header %j is tried with at most 10 of the keys that may have signed it",
  (kid) => {
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "jwk" });
    const curve = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" });
    const token = parseToken(signedToken(rsa.privateKey, { alg: "RS256", ...kid }, {}));
    const keysAfter = (count: number) => {
      const others = Array.from({ length: count }, () => [
        { ...other, kid: "one" },
        { ...curve, kid: "one" },
      ]);
      return publicKeys({ keys: [...others.flat(), { ...jwk, kid: "one" }] });
    };
    expect(isSignedBy(token, keysAfter(maxTriedKeys - 1))).toBe(true);
    expect(isSignedBy(token, keysAfter(maxTriedKeys))).toBe(false);
  },
);
