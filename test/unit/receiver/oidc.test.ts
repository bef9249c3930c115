import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { celModule, wasmCel } from "../../../lib/cel/wasm-cel.ts";
import { homeNetwork, networkPolicy } from "../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { keySets, maxDocumentBytes, maxRefreshesPerMinute } from "../../../lib/receiver/key-sets.ts";
import { type OidcProvider, verifyOidc } from "../../../lib/receiver/oidc.ts";
import { RequestRefused } from "../../../lib/receiver/request-refused.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";
import { type Issuer, rsa, signedToken, startIssuer } from "./token-issuer.ts";

const cel = wasmCel({ file: celModule, threads: 1, idleMs: 60_000 });
const http = httpClient({ network: homeNetwork });
afterAll(async () => {
  http.close();
  await cel.close();
});
const forever = new AbortController().signal;

let issuer: Issuer;
let clock = steppedClock();
let deps = { cel, clock, keySets: keySets({ http, clock }) };
beforeEach(async () => {
  const started = await startIssuer();
  onTestFinished(() => started[Symbol.asyncDispose]());
  issuer = started;
  clock = steppedClock();
  deps = { cel, clock, keySets: keySets({ http, clock }) };
});

const seconds = (): number => Math.floor(clock.now() / 1000);
const claims = (more: object = {}): object => ({
  iss: issuer.url,
  aud: "notification-controller",
  sub: "repo:shop/cart",
  exp: seconds() + 60,
  repository: "shop/cart",
  ...more,
});
const bearer = (more: object = {}, header: { alg: string; kid?: string } = { alg: "RS256", kid: "one" }): string =>
  `Bearer ${signedToken(rsa.privateKey, header, claims(more))}`;
const provider = (more: Partial<OidcProvider> = {}): OidcProvider => ({
  issuerURL: issuer.url,
  audience: "notification-controller",
  validations: [{ expression: "claims.repository == 'shop/cart'", message: "wrong repository" }],
  ...more,
});
const verify = (authorization: string | undefined, providers = [provider()], own = deps): Promise<unknown> =>
  verifyOidc(authorization, providers, own, forever).then(({ text }): unknown => JSON.parse(text));

describe("notification statement 32: a token of an OIDC provider", () => {
  test("that is valid makes its claims available to the filters", async () => {
    expect(await verify(bearer({ number: 5 }))).toMatchObject({ repository: "shop/cart", number: 5 });
    expect(await verify(bearer({ aud: ["other", "notification-controller"] }))).toMatchObject({
      sub: "repo:shop/cart",
    });
  });

  // Judged by notification-controller v1.9.3, 2026-11-23.
  test.each([
    { more: { exp: "4102444800" }, isTaken: true },
    { more: { exp: "soon" }, isTaken: false },
    { more: { exp: null }, isTaken: false },
    { more: { exp: 1e30 }, isTaken: false },
    { more: { nbf: null }, isTaken: true },
    { more: { nbf: "5" }, isTaken: true },
    { more: { iat: "5" }, isTaken: true },
    { more: { iat: "x" }, isTaken: false },
    { more: { aud: ["notification-controller", null] }, isTaken: true },
    { more: { aud: ["notification-controller", 5] }, isTaken: false },
    { more: { nonce: 5 }, isTaken: false },
    { more: { at_hash: 5 }, isTaken: false },
    { more: { _claim_names: "x" }, isTaken: false },
    { more: { _claim_names: { a: "b" } }, isTaken: true },
  ])("with $more is accepted as in Flux: $isTaken", async ({ more, isTaken }) => {
    const verified = verify(bearer(more)).then(
      () => true,
      (error: unknown) => error instanceof RequestRefused && false,
    );
    expect(await verified).toBe(isTaken);
  });

  test.each([
    { name: "an unknown issuer", more: { iss: "https://other.example" }, message: "no oidcProvider configured" },
    { name: "no issuer", more: { iss: undefined }, message: "token is missing the 'iss' claim" },
    { name: "another audience", more: { aud: "flux" }, message: `expected audience "notification-controller"` },
    {
      name: "an audience with the same prefix",
      more: { aud: ["notification-controller-old", "notification-controller/x", "notification"] },
      message: `expected audience "notification-controller"`,
    },
    { name: "no audience", more: { aud: undefined }, message: `expected audience "notification-controller"` },
    { name: "no expiry", more: { exp: undefined }, message: "token is expired (Token Expiry: 1970-" },
    {
      name: "claims that fail a validation",
      more: { repository: "x" },
      message: "token validation failed: wrong repository",
    },
    {
      name: "claims that lack a field of a validation",
      more: { repository: undefined },
      message: "no such key: repository",
    },
  ])("with $name is refused", async ({ more, message }) => {
    await expect(verify(bearer(more))).rejects.toThrow(message);
  });

  test("fails with the messages of all validations that are false", async () => {
    const validations = [
      { expression: "claims.sub == 'a'", message: "first" },
      { expression: "vars.owner == 'shop'", message: "second" },
      { expression: "vars.owner == 'x'", message: "third" },
    ];
    const variables = [{ name: "owner", expression: "claims.repository.split('/')[0]" }];
    await expect(verify(bearer(), [provider({ variables, validations })])).rejects.toThrow(
      "token validation failed: first; third",
    );
  });

  test("is checked by the provider of its issuer, among several", async () => {
    const other = provider({ issuerURL: "https://other.example", audience: "other" });
    await verify(bearer(), [other, provider()]);
    await expect(verify(bearer(), [other])).rejects.toThrow("no oidcProvider configured");
  });

  test.each([undefined, "", "bearer x", "Basic x", "Bearer ", "Bearer   "])("is missing in %j", async (header) => {
    await expect(verify(header)).rejects.toThrow("the Authorization header is missing");
  });

  test.each(["x", "a.b", "a.b.c.d", "!.!.!", "e30.e30.e30", "bnVsbA.bnVsbA.", `${"a".repeat(70_000)}.b.c`])(
    "%# that is invalid is refused without a request",
    async (token) => {
      await expect(verify(`Bearer ${token}`)).rejects.toThrow("failed to parse bearer token: ");
      expect(issuer.asked).toEqual([]);
    },
  );
});

describe("the time in a token", () => {
  test("has no leeway for the expiry, and five minutes for the time before which a token is not valid", async () => {
    expect(await verify(bearer({ exp: seconds() }))).toBeDefined();
    await expect(verify(bearer({ exp: seconds() - 1 }))).rejects.toThrow("token is expired");
    expect(await verify(bearer({ nbf: seconds() + 300 }))).toBeDefined();
    await expect(verify(bearer({ nbf: seconds() + 301 }))).rejects.toThrow("before the nbf (not before) time");
  });

  test("allows a clock five minutes behind the issuer's; a clock five minutes ahead refuses short-lived tokens", async () => {
    const issuedAt = seconds() + 300;
    expect(await verify(bearer({ nbf: issuedAt, exp: issuedAt + 60 }))).toBeDefined();
    clock.pass(600_000);
    await expect(verify(bearer({ nbf: issuedAt, exp: issuedAt + 60 }))).rejects.toThrow("token is expired");
  });
});

describe("signatures of a token", () => {
  const pairs = {
    RS256: rsa,
    RS384: rsa,
    RS512: rsa,
    PS256: rsa,
    PS384: rsa,
    PS512: rsa,
    ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
    ES384: generateKeyPairSync("ec", { namedCurve: "P-384" }),
    ES512: generateKeyPairSync("ec", { namedCurve: "P-521" }),
    EdDSA: generateKeyPairSync("ed25519"),
  };

  test.each(Object.entries(pairs))("by %s are verified, and refused with one bit changed", async (alg, pair) => {
    issuer.discovery = { id_token_signing_alg_values_supported: [alg, "none", "HS256"] };
    issuer.keys = [{ kid: "one", key: pair.publicKey }];
    const token = signedToken(pair.privateKey, { alg, kid: "one" }, claims());
    expect(await verify(`Bearer ${token}`)).toBeDefined();
    const [header, payload, signature = ""] = token.split(".");
    const bytes = Buffer.from(signature, "base64url");
    bytes[10] = (bytes[10] ?? 0) ^ 1;
    await expect(verify(`Bearer ${header}.${payload}.${bytes.toString("base64url")}`)).rejects.toThrow(
      "failed to verify id token signature",
    );
  });

  test("of type none, and those with the public key as secret, are refused whatever the issuer advertises", async () => {
    issuer.discovery = { id_token_signing_alg_values_supported: ["none", "HS256", "RS256"] };
    const secret = rsa.publicKey.export({ format: "pem", type: "spki" }).toString();
    for (const alg of ["none", "HS256"]) {
      const token = signedToken(rsa.privateKey, { alg, kid: "one" }, claims(), secret);
      await expect(verify(`Bearer ${token}`)).rejects.toThrow("its algorithm is none of RS256");
    }
  });

  test("with an algorithm that the issuer does not advertise are refused; without a list RS256 is allowed", async () => {
    await expect(verify(bearer({}, { alg: "RS512", kid: "one" }))).rejects.toThrow("its algorithm is none of RS256");
  });

  test("by another key of the same name, a short key or an encryption key are refused", async () => {
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 });
    issuer.keys = [{ kid: "one", key: other.publicKey }];
    await expect(verify(bearer())).rejects.toThrow("failed to verify id token signature");
    const short = generateKeyPairSync("rsa", { modulusLength: 1024 });
    issuer.keys = [{ kid: "short", key: short.publicKey }];
    const token = signedToken(short.privateKey, { alg: "RS256", kid: "short" }, claims());
    await expect(verify(`Bearer ${token}`)).rejects.toThrow("failed to verify id token signature");
  });

  test("without a key name are tried with all keys", async () => {
    expect(await verify(bearer({}, { alg: "RS256" }))).toBeDefined();
  });

  test("whose key has an empty name are tried with all keys", async () => {
    expect(await verify(bearer({}, { alg: "RS256", kid: "" }))).toBeDefined();
  });

  test("with a header that requires extensions are refused", async () => {
    const token = signedToken(rsa.privateKey, { alg: "RS256", kid: "one", crit: ["b64"] }, claims());
    await expect(verify(`Bearer ${token}`)).rejects.toThrow("its header has crit");
  });
});

test.each(["", "/", "/tenant", "/tenant/"])(
  "an issuer with the path '%s' is requested below it, with one slash",
  async (path) => {
    const [iss, jwksUri] = [`https://issuer.test${path}`, "https://keys.test/jwks"];
    const asked: string[] = [];
    const own = {
      document: async (url: string) => {
        asked.push(url);
        return { issuer: iss, jwksUri, algorithms: [] };
      },
      hasSigned: async (url: string) => asked.push(url) > 0,
    };
    await verify(bearer({ iss }), [provider({ issuerURL: iss })], { ...deps, keySets: own });
    const folder = iss.endsWith("/") ? iss : `${iss}/`;
    expect(asked).toEqual([`${folder}.well-known/openid-configuration`, jwksUri]);
    // Letter for letter, as in Flux.
    const others = ["https://issuer.test/x", iss.endsWith("/") ? iss.slice(0, -1) : `${iss}/`];
    await expect(
      verify(
        bearer({ iss }),
        others.map((issuerURL) => provider({ issuerURL })),
      ),
    ).rejects.toThrow("no oidcProvider configured for the token's issuer");
  },
);

describe("the issuer of a token", () => {
  const fetched = ["/.well-known/openid-configuration", "/jwks"];
  const jwksReads = (): number => issuer.asked.filter((path) => path === "/jwks").length;

  test("is asked once for many deliveries, and again after five minutes", async () => {
    await Promise.all([verify(bearer()), verify(bearer()), verify(bearer())]);
    expect(issuer.asked.toSorted()).toEqual(fetched);
    clock.pass(299_000);
    await verify(bearer());
    expect(issuer.asked).toHaveLength(2);
    clock.pass(1_000);
    await verify(bearer());
    expect(issuer.asked).toHaveLength(4);
  });

  test("is asked again if the process was frozen for that time", async () => {
    await verify(bearer());
    clock.freeze(300_000);
    await verify(bearer());
    expect(issuer.asked).toHaveLength(4);
  });

  test("may rotate its keys: an unknown key is requested at once, but only a limited number of times", async () => {
    await verify(bearer());
    const next = generateKeyPairSync("rsa", { modulusLength: 2048 });
    issuer.keys = [{ kid: "two", key: next.publicKey }];
    const token = signedToken(next.privateKey, { alg: "RS256", kid: "two" }, claims());
    expect(await verify(`Bearer ${token}`)).toBeDefined();
    await expect(verify(bearer())).rejects.toThrow("failed to verify id token signature");
    for (let count = 0; count < 20; count++)
      await verify(bearer({}, { alg: "RS256", kid: `forged-${count}` })).catch(() => undefined);
    expect(jwksReads()).toBe(maxRefreshesPerMinute);
    expect(await verify(`Bearer ${token}`)).toBeDefined();
  });

  test("is asked once for a missing key, and again after half a minute", async () => {
    await verify(bearer());
    for (let count = 0; count < 3; count++)
      await expect(verify(bearer({}, { alg: "RS256", kid: "two" }))).rejects.toThrow("failed to verify id token");
    expect(jwksReads()).toBe(2);
    clock.pass(30_000);
    await expect(verify(bearer({}, { alg: "RS256", kid: "two" }))).rejects.toThrow("failed to verify id token");
    expect(jwksReads()).toBe(3);
  });

  test("whose keys rotate is asked within half a minute, however many forged tokens come", async () => {
    await verify(bearer());
    const forge = async () => {
      for (let count = 0; count < 10; count++)
        await verify(bearer({}, { alg: "RS256", kid: `${clock.now()}-${count}` })).catch(() => undefined);
    };
    await forge();
    const next = generateKeyPairSync("rsa", { modulusLength: 2048 });
    issuer.keys = [{ kid: "two", key: next.publicKey }];
    const token = signedToken(next.privateKey, { alg: "RS256", kid: "two" }, claims());
    await expect(verify(`Bearer ${token}`)).rejects.toThrow("failed to verify id token signature");
    clock.pass(30_000);
    await forge();
    expect(await verify(`Bearer ${token}`)).toBeDefined();
    expect(jwksReads()).toBe(1 + maxRefreshesPerMinute);
  });

  test("that fails when a new key is requested keeps its cached keys", async () => {
    await verify(bearer());
    issuer.answer = (_request, response) => {
      response.writeHead(503).end();
      return true;
    };
    await expect(verify(bearer({}, { alg: "RS256", kid: "two" }))).rejects.toThrow("answered 503");
    expect(await verify(bearer())).toBeDefined();
  });

  test("is asked once by all concurrent callers with a new key", async () => {
    await verify(bearer());
    const next = generateKeyPairSync("rsa", { modulusLength: 2048 });
    issuer.keys = [{ kid: "two", key: next.publicKey }];
    const token = signedToken(next.privateKey, { alg: "RS256", kid: "two" }, claims());
    await Promise.all(Array.from({ length: 10 }, () => verify(`Bearer ${token}`)));
    expect(jwksReads()).toBe(2);
  });

  test.each([
    { name: "another issuer", discovery: { issuer: "https://other.example" }, message: "names another issuer" },
    {
      name: "an issuer with the same prefix",
      discovery: { issuer: "http://127.0.0.1" },
      message: "names another issuer",
    },
    { name: "keys at no URL", discovery: { jwks_uri: "file:///etc/passwd" }, message: "has no issuer or jwks_uri" },
    { name: "missing keys", path: "/gone", message: "fetching keys" },
  ])("whose discovery document names $name is refused", async ({ discovery, path, message }) => {
    issuer.discovery = path === undefined ? discovery : { jwks_uri: `${issuer.url}${path}` };
    await expect(verify(bearer())).rejects.toThrow(message);
  });

  test.each([
    { name: "no JSON", body: "<html>", message: "the answer is not JSON" },
    {
      name: "more than a megabyte",
      body: "[".repeat(maxDocumentBytes + 1),
      message: /more than|larger|too large|longer/,
    },
  ])("that answers $name is refused, and is not asked again for five seconds", async ({ body, message }) => {
    issuer.answer = (_request, response) => {
      response.end(body);
      return true;
    };
    await expect(verify(bearer())).rejects.toThrow(message);
    await expect(verify(bearer())).rejects.toThrow("failed to initialize OIDC provider for issuer");
    expect(issuer.asked).toHaveLength(1);
    issuer.answer = () => false;
    clock.pass(5_000);
    expect(await verify(bearer())).toBeDefined();
  });

  test("that hangs leaves a caller that aborts with its own reason", async () => {
    issuer.answer = () => true;
    const stop = new AbortController();
    const waiting = verifyOidc(bearer(), [provider()], deps, stop.signal);
    await expect.poll(() => issuer.asked).toHaveLength(1);
    stop.abort(new Error("given up"));
    await expect(waiting).rejects.toThrow("given up");
  });

  test("that is, or redirects to, an internal address is refused by the network policy", async () => {
    const guarded = httpClient({ network: networkPolicy({ allow: [] }, "functions") });
    onTestFinished(() => guarded.close());
    const own = { cel, clock, keySets: keySets({ http: guarded, clock }) };
    await expect(verify(bearer(), [provider()], own)).rejects.toThrow("failed to initialize OIDC provider for issuer");
    expect(issuer.asked).toEqual([]);

    issuer.answer = (_request, response) => {
      response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end();
      return true;
    };
    await expect(verify(bearer())).rejects.toThrow("169.254.169.254");
  });
});

test("no message contains the token or an unused claim", async () => {
  for (const more of [
    { aud: "secret-audience" },
    { exp: 1 },
    { repository: "secret-repository" },
    { iss: "https://secret" },
  ]) {
    const authorization = bearer(more);
    const error: unknown = await verify(authorization).catch((thrown: unknown) => thrown);
    expect(String(error)).not.toContain("secret");
    expect(String(error)).not.toContain(authorization.slice(-20));
  }
});
