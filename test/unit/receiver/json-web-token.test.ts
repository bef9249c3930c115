import { expect, test } from "vitest";
import { isSignedBy, parseToken, publicKeys } from "../../../lib/receiver/json-web-token.ts";
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
])("a token that names the key $named counts as signed by the key $of: $isTaken", ({ named, of, isTaken }) => {
  const header = { alg: "RS256", ...(named === undefined ? {} : { kid: named }) };
  const keys = publicKeys({ keys: [{ ...jwk, ...(of === undefined ? {} : { kid: of }) }] });
  expect(isSignedBy(parseToken(signedToken(rsa.privateKey, header, {})), keys)).toBe(isTaken);
});

test.each([
  { use: "sig", count: 1 },
  { use: undefined, count: 1 },
  { use: "enc", count: 0 },
])("a key for the use $use counts: $count", ({ use, count }) => {
  expect(publicKeys({ keys: [{ ...jwk, ...(use === undefined ? {} : { use }) }] })).toHaveLength(count);
});

test("a token may have 65536 characters and not one more", () => {
  const head = `${Buffer.from('{"alg":"RS256"}').toString("base64url")}.e30.`;
  const ofLength = (chars: number): string => head + "A".repeat(chars - head.length);
  expect(parseToken(ofLength(65_536)).payload).toBe("{}");
  expect(() => parseToken(ofLength(65_537))).toThrow("token is not a JWT");
});
