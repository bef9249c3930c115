import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { type Http, HttpError } from "../../../lib/core/ports/http.ts";
import { parseToken } from "../../../lib/receiver/json-web-token.ts";
import { keySets, maxRefreshesPerMinute } from "../../../lib/receiver/key-sets.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";
import { rsa, signedToken } from "./token-issuer.ts";

const { signal } = new AbortController();
const url = "https://issuer.example/jwks";
const newKey = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ofNewKey = parseToken(signedToken(newKey.privateKey, { alg: "RS256", kid: "two" }, {}));
const forged = (kid: string) => parseToken(signedToken(newKey.privateKey, { alg: "RS256", kid }, {}));

/** Key sets of an issuer that has `keys` and counts who asks. */
function world() {
  const clock = steppedClock();
  const issuer = { keys: [{ kid: "one", key: rsa.publicKey }], asked: [] as string[], isAway: false };
  const http: Http = {
    async send(request) {
      issuer.asked.push(request.url);
      if (issuer.isAway) throw new HttpError("unreachable", "no answer");
      const keys = issuer.keys.map(({ kid, key }) => ({ ...key.export({ format: "jwk" }), kid }));
      return { url: request.url, status: 200, headers: {}, body: Buffer.from(JSON.stringify({ keys })) };
    },
  };
  return { clock, issuer, keys: keySets({ http, clock }) };
}

test("keys that were fetched for a token are not fetched again for the same one", async () => {
  const { issuer, keys } = world();
  expect(await keys.hasSigned(url, ofNewKey, signal)).toBe(false);
  expect(issuer.asked).toEqual([url]);
});

test("an issuer that fails when a new key is requested is asked again after half a minute", async () => {
  const { clock, issuer, keys } = world();
  await keys.document(url, signal);
  await keys.hasSigned(url, forged("zero"), signal);
  issuer.isAway = true;
  await expect(keys.hasSigned(url, ofNewKey, signal)).rejects.toThrow("no answer");
  issuer.isAway = false;
  issuer.keys = [{ kid: "two", key: newKey.publicKey }];
  clock.pass(30_000);
  expect(await keys.hasSigned(url, ofNewKey, signal)).toBe(true);
});

test("fetching expired keys does not restart the limit of requests for new keys", async () => {
  const { clock, issuer, keys } = world();
  await keys.hasSigned(url, forged("zero"), signal);
  clock.pass(5 * 60_000 - 1);
  issuer.isAway = true;
  const ask = (kid: string) => keys.hasSigned(url, forged(kid), signal).catch(() => false);
  for (let at = 0; at <= maxRefreshesPerMinute; at++) await ask(`before-${at}`);
  const before = issuer.asked.length;
  issuer.isAway = false;
  clock.pass(1);
  for (let at = 0; at <= maxRefreshesPerMinute; at++) await ask(`after-${at}`);
  // The keys themselves.
  expect(issuer.asked.length - before).toBe(1);
});

test("of two hundred and one issuers the first is evicted, and the others are cached", async () => {
  const { issuer, keys } = world();
  const ask = (at: number) => keys.document(`https://issuer-${at}.example/`, signal);
  for (let at = 0; at <= 200; at++) await ask(at);
  await ask(1);
  expect(issuer.asked).toHaveLength(201);
  await ask(0);
  expect(issuer.asked).toHaveLength(202);
});

test("of issuers whose keys fill the memory limit the first is evicted, and the last is cached", async () => {
  const { issuer, keys } = world();
  const kid = "k".repeat(1_000);
  issuer.keys = Array.from({ length: 100 }, () => ({ kid, key: rsa.publicKey }));
  const token = parseToken(signedToken(rsa.privateKey, { alg: "RS256", kid }, {}));
  const ask = (at: number) => keys.hasSigned(`https://issuer-${at}.example/`, token, signal);
  for (let at = 0; at < 34; at++) await ask(at);
  expect(issuer.asked).toHaveLength(34);
  await ask(33);
  await ask(0);
  expect(issuer.asked.slice(34)).toEqual(["https://issuer-0.example/"]);
});

test("only the needed fields of a discovery document are cached", async () => {
  const clock = steppedClock();
  const document = { issuer: "i", jwks_uri: "https://keys.example/", more: "x".repeat(1_000) };
  const algorithms = { id_token_signing_alg_values_supported: ["none", "ES256", "RS256", "ES256"] };
  const http: Http = {
    send: async ({ url: asked }) => ({
      url: asked,
      status: 200,
      headers: {},
      body: Buffer.from(JSON.stringify(asked.endsWith("all") ? { ...document, ...algorithms } : document)),
    }),
  };
  const keys = keySets({ http, clock });
  const kept = { issuer: "i", jwksUri: "https://keys.example/", algorithms: [] };
  expect(await keys.document("https://issuer.example/", signal)).toEqual(kept);
  expect(await keys.document("https://issuer.example/all", signal)).toEqual({
    ...kept,
    algorithms: ["ES256", "RS256"],
  });
});
