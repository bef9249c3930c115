import { generateKeyPairSync } from "node:crypto";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { gcrEvent, verifyGoogleToken } from "../../../lib/receiver/google-token.ts";
import { keySets } from "../../../lib/receiver/key-sets.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";
import { type Issuer, rsa, signedToken, startIssuer } from "./token-issuer.ts";

const http = httpClient({ network: homeNetwork });
afterAll(() => http.close());
let google: Issuer;
beforeEach(async () => {
  google = await startIssuer();
});
afterEach(() => google[Symbol.asyncDispose]());

const clock = steppedClock();
const expected = { email: "push@shop.iam.gserviceaccount.com", audience: "https://hook.example/hook/1" };
const claims = {
  iss: "https://accounts.google.com",
  aud: expected.audience,
  email: expected.email,
  email_verified: true,
  exp: Math.floor(clock.now() / 1000) + 60,
};

function verify(
  more: object = {},
  own: Partial<typeof expected> = {},
  header: { readonly alg: string; readonly kid?: string } = { alg: "RS256", kid: "one" },
) {
  const authorization = `Bearer ${signedToken(rsa.privateKey, header, { ...claims, ...more })}`;
  const deps = { clock, keySets: keySets({ http, clock }), keysUrl: `${google.url}/jwks` };
  return verifyGoogleToken(authorization, { ...expected, ...own }, deps, new AbortController().signal);
}

test("a token of Google for the expected account and audience is accepted", async () => {
  await expect(verify()).resolves.toBeUndefined();
  await expect(verify({ iss: "accounts.google.com" })).resolves.toBeUndefined();
});

test.each(["email", "audience"])(
  "notification statement 34: a Secret without %s refuses a valid token",
  async (field) => {
    await expect(verify({}, { [field]: "" })).rejects.toThrow(
      `invalid secret data: required field '${field}' for GCR receiver`,
    );
    expect(google.asked).toEqual([]);
  },
);

test.each([
  { more: { aud: "other" }, message: "audience provided does not match" },
  { more: { aud: `${expected.audience}2` }, message: "audience provided does not match" },
  { more: { aud: expected.audience.slice(0, -1) }, message: "audience provided does not match" },
  { more: { aud: [expected.audience] }, message: "audience provided does not match" },
  { more: { exp: claims.exp - 61 }, message: "token expired" },
  { more: { exp: undefined }, message: "token expired" },
  { more: { iss: "https://accounts.example" }, message: "token issuer is not 'accounts.google.com'" },
  { more: { email: "other@shop.iam.gserviceaccount.com" }, message: "token email is not the expected one" },
  { more: { email: `${expected.email}.example` }, message: "token email is not the expected one" },
  { more: { iss: "https://accounts.google.com.example" }, message: "token issuer is not 'accounts.google.com'" },
  { more: { email_verified: false }, message: "token email is not verified" },
  { more: { email_verified: "true" }, message: "token email is not verified" },
])("a token with $more is refused", async ({ more, message }) => {
  await expect(verify(more)).rejects.toThrow(message);
});

test("a token is valid until its last second is over, in whole seconds as in Google's library", async () => {
  const now = Math.floor(clock.now() / 1000);
  await expect(verify({ exp: now })).resolves.toBeUndefined();
  await expect(verify({ exp: now - 1 })).rejects.toThrow("token expired");
  clock.pass(999);
  await expect(verify({ exp: now })).resolves.toBeUndefined();
  clock.pass(1);
  await expect(verify({ exp: now })).rejects.toThrow("token expired");
});

test("a token with another key or algorithm is refused", async () => {
  await expect(verify({}, {}, { alg: "RS256", kid: "two" })).rejects.toThrow("no key of Google has signed it");
  await expect(verify({}, {}, { alg: "RS256" })).rejects.toThrow("no key of Google has signed it");
  await expect(verify({}, {}, { alg: "RS512", kid: "one" })).rejects.toThrow("expected JWT signed with RS256");
  google.keys = [{ kid: "one", key: generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey }];
  await expect(verify()).rejects.toThrow("no key of Google has signed it");
});

test("the registry's event is unwrapped from the envelope of Pub/Sub", () => {
  const wrapped = (data: unknown): Uint8Array =>
    Buffer.from(JSON.stringify({ message: { data: Buffer.from(JSON.stringify(data)).toString("base64") } }));
  const event = { action: "INSERT", digest: "gcr.io/shop/cart@sha256:00", tag: "gcr.io/shop/cart:1.4.2" };
  expect(gcrEvent(wrapped({ ...event, more: 1 }))).toEqual(event);
  expect(gcrEvent(wrapped({ action: "DELETE", tag: null }))).toEqual({ action: "DELETE", digest: "", tag: "" });
  for (const body of ["not json", "5", '{"message": 5}', '{"message": {"data": 5}}', "{}"]) {
    expect(() => gcrEvent(Buffer.from(body))).toThrow("cannot decode GCR webhook");
  }
  expect(() => gcrEvent(wrapped({ tag: 5 }))).toThrow("cannot decode GCR webhook body");
});
