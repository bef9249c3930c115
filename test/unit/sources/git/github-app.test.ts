import { createVerify, generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { homeNetwork } from "../../../../lib/core/network/network-policy.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { httpClient } from "../../../../lib/http/http-client.ts";
import {
  type GitHubApp,
  githubAppLogins,
  githubAppTokens,
  maxTokenBytes,
} from "../../../../lib/sources/git/github-app.ts";
import { maxKeyChars, maxRsaBits } from "../../../../lib/sources/git/ssh-key.ts";
import { portOnLoopback } from "../../../doubles/port-on-loopback.ts";
import { rsaKeyOf } from "./rsa-key-of.ts";

const never = new AbortController().signal;
const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = (key: KeyObject): Secret => new Secret(key.export({ type: "pkcs1", format: "pem" }).toString());
const start = Date.parse("2026-11-23T12:00:00.700Z");
let now = start;
const asked: { readonly what: string; readonly jwt: string }[] = [];
/** Owners that GitHub knows, and their installations; answers as the documentation of GitHub's API shows them. */
const organisations = new Map([["acme", 71]]);
const users = new Map([["jane", 72]]);
let answer: { readonly status: number; readonly body: string } | undefined;

const server = createServer((request, response) => {
  const { authorization = "" } = request.headers;
  asked.push({ what: `${request.method} ${request.url}`, jwt: authorization.replace("Bearer ", "") });
  const path = (request.url ?? "").replace(/^\/api\/v3/, "");
  const [, kind, owner = ""] = /^\/(orgs|users)\/([^/]+)\/installation$/.exec(path) ?? [];
  const id = (kind === "orgs" ? organisations : users).get(owner);
  const isToken = /^\/app\/installations\/\d+\/access_tokens$/.test(path) && request.method === "POST";
  const token = {
    token: `ghs_${asked.length}`,
    expires_at: new Date(now + 3_600_000).toISOString().replace(/\.\d+/, ""),
    permissions: { contents: "read" },
    repository_selection: "selected",
  };
  const found = isToken ? token : id === undefined ? undefined : { id, account: { login: owner }, app_id: 12 };
  const { status, body } = answer ?? {
    status: isToken ? 201 : found === undefined ? 404 : 200,
    body: JSON.stringify(found ?? { message: "Not Found hunter2" }),
  };
  response.writeHead(status, { "content-type": "application/json" }).end(body);
});
const http = httpClient({ network: homeNetwork });
let base: string;
beforeAll(async () => {
  base = `http://127.0.0.1:${await portOnLoopback(server)}`;
});
afterAll(() => {
  http.close();
  server.close();
});
beforeEach(() => {
  asked.length = 0;
  now = start;
  answer = undefined;
});

const appOf = (change: Partial<GitHubApp> = {}): GitHubApp => ({
  id: "12",
  privateKey: pem(pair.privateKey),
  installation: { id: "34" },
  baseUrl: base,
  ...change,
});
const tokens = () => githubAppTokens(http, { now: () => now });
const whats = () => asked.map(({ what }) => what);

test("tokens of GitHub Apps are cached up to a limit of bytes: the least recently used are evicted", async () => {
  const token = tokens();
  const body = { token: "x".repeat(maxTokenBytes / 4 - 1_000), expires_at: new Date(now + 3_600_000).toISOString() };
  answer = { status: 201, body: JSON.stringify(body) };
  for (const id of ["1", "2", "3", "3", "2", "1"]) await token(appOf({ id }), never);
  expect(asked).toHaveLength(4);
  answer = { status: 201, body: JSON.stringify({ ...body, token: "x".repeat(maxTokenBytes / 2) }) };
  for (const id of ["4", "4"]) await token(appOf({ id }), never);
  expect(asked).toHaveLength(6);
});

test("a key of a GitHub App that would be slow to sign with is refused, by its length or its modulus", async () => {
  const faultOf = (text: string): Promise<unknown> =>
    tokens()(appOf({ privateKey: new Secret(text) }), never).catch((error: unknown) => String(error));
  const long = "Error: could not parse private key: it has more than 16384 characters";
  expect(await faultOf("x".repeat(maxKeyChars))).toContain("invalid key");
  expect(await faultOf("x".repeat(maxKeyChars + 1))).toBe(long);
  const bits = "Error: could not parse private key: it has 8200 bits, and at most 8192 are supported";
  expect(await faultOf(rsaKeyOf(maxRsaBits + 8))).toBe(bits);
  expect(asked).toEqual([]);
});

test("a token of a GitHub App is requested with a signed JWT, issued half a minute ago and valid for two minutes", async () => {
  expect((await tokens()(appOf(), never)).reveal()).toBe("ghs_1");
  expect(whats()).toEqual(["POST /api/v3/app/installations/34/access_tokens"]);
  const [head = "", claims = "", signature = ""] = asked[0]?.jwt.split(".") ?? [];
  const read = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
  const issued = Math.floor(start / 1000) - 30;
  expect([read(head), read(claims)]).toEqual([
    { alg: "RS256", typ: "JWT" },
    { iss: "12", iat: issued, exp: issued + 120 },
  ]);
  const verify = createVerify("RSA-SHA256").update(`${head}.${claims}`);
  expect(verify.verify(pair.publicKey, signature, "base64url")).toBe(true);
});

test.each([
  [
    "an organisation",
    "acme",
    ["GET /api/v3/orgs/acme/installation", "POST /api/v3/app/installations/71/access_tokens"],
  ],
  [
    "a user",
    "jane",
    [
      "GET /api/v3/orgs/jane/installation",
      "GET /api/v3/users/jane/installation",
      "POST /api/v3/app/installations/72/access_tokens",
    ],
  ],
])("the installation of %s is looked up", async (_what, owner, requests) => {
  await tokens()(appOf({ installation: { owner } }), never);
  expect(whats()).toEqual(requests);
});

test("an owner who has not installed the App is reported, without GitHub's message", async () => {
  const fault = tokens()(appOf({ installation: { owner: "no/body" } }), never);
  await expect(fault).rejects.toThrow(
    `failed to find organization installation: GET ${base}/api/v3/orgs/no%2Fbody/installation: 404\nfailed to find user installation: GET ${base}/api/v3/users/no%2Fbody/installation: 404`,
  );
});

test("the slug of an App is requested if needed, and cached with the token", async () => {
  const login = githubAppLogins(http, { now: () => now });
  answer = {
    status: 200,
    body: JSON.stringify({ slug: "deployer", token: "ghs_x", expires_at: "2026-11-23T13:00:00Z" }),
  };
  for (const hasSlug of [true, true, false, false]) {
    const { slug, token } = await login(appOf(), { hasSlug }, never);
    expect([slug, token.reveal()]).toEqual([hasSlug ? "deployer" : undefined, "ghs_x"]);
  }
  const token = "POST /api/v3/app/installations/34/access_tokens";
  expect(whats()).toEqual(["GET /api/v3/app", token, token]);
});

test("an App that does not return its slug is reported", async () => {
  answer = { status: 403, body: '{"message":"hunter2"}' };
  await expect(githubAppLogins(http, { now: () => now })(appOf(), { hasSlug: true }, never)).rejects.toThrow(
    `failed to get app information: GET ${base}/api/v3/app: 403`,
  );
});

describe("a token of a GitHub App is cached", () => {
  test("until five minutes before it expires", async () => {
    const get = tokens();
    const reveal = async () => (await get(appOf(), never)).reveal();
    expect([await reveal(), await reveal()]).toEqual(["ghs_1", "ghs_1"]);
    now = start + 54 * 60_000;
    expect(await reveal()).toBe("ghs_1");
    now = start + 56 * 60_000;
    expect(await reveal()).toBe("ghs_2");
  });

  test("only for this app, key, installation and address: a rotated Secret requests a new one", async () => {
    const get = tokens();
    await get(appOf(), never);
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    for (const change of [
      { id: "13" },
      { privateKey: pem(other) },
      { installation: { id: "35" } },
      { baseUrl: `${base}/api/v3` },
    ]) {
      await get(appOf(change), never);
    }
    expect(asked).toHaveLength(5);
  });

  test("separately for every difference, including the way to GitHub", async () => {
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const proxy = (url: string, username?: string, password?: string) => ({
      url: new URL(url),
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password: new Secret(password) }),
    });
    const apps: readonly Partial<GitHubApp>[] = [
      {},
      { id: "123" },
      { privateKey: pem(other.privateKey) },
      { installation: { id: "345" } },
      { installation: { owner: "acme" } },
      { installation: { owner: "jane" } },
      { baseUrl: "https://github.example/" },
      { tls: { ca: "a" } },
      { tls: { ca: "b" } },
      { tls: { insecure: true } },
      { proxy: proxy("http://proxy.test") },
      { proxy: proxy("http://proxy.test:8080") },
      { proxy: proxy("http://proxy.test", "jane") },
      { proxy: proxy("http://proxy.test", "jane", "hunter2") },
      { proxy: proxy("http://proxy.test", "jane", "hunter3") },
    ];
    const sent: string[] = [];
    const token = githubAppTokens(
      {
        send: async ({ url, method }) => {
          sent.push(method);
          const body = { id: 71, token: `ghs_${sent.length}`, expires_at: "2026-11-23T13:00:00Z" };
          return { url, status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) };
        },
      },
      { now: () => now },
    );
    const ask = async (change: Partial<GitHubApp>) => (await token(appOf(change), never)).reveal();
    const all: string[] = [];
    for (const app of apps) all.push(await ask(app));
    expect(new Set(all).size).toBe(apps.length);
    sent.length = 0;
    const again: string[] = [];
    for (const app of apps) again.push(await ask(app));
    expect([again, sent]).toEqual([all, []]);
  });

  test("only if the request succeeded", async () => {
    const get = tokens();
    answer = { status: 401, body: '{"message":"hunter2"}' };
    await expect(get(appOf(), never)).rejects.toThrow(`POST ${base}/api/v3/app/installations/34/access_tokens: 401`);
    answer = undefined;
    expect((await get(appOf(), never)).reveal()).toBe("ghs_2");
  });
});

test.each([
  ["https://github.example.com", "https://github.example.com/api/v3/"],
  ["https://github.example.com/sub/", "https://github.example.com/sub/api/v3/"],
  ["https://github.example.com/api/v3", "https://github.example.com/api/v3/"],
  ["https://api.example.ghe.com", "https://api.example.ghe.com/"],
  [undefined, "https://api.github.com/"],
])("the GitHub API of %s is at %s", async (baseUrl, api) => {
  const requests: string[] = [];
  const recorded = {
    send: ({ url }: { readonly url: string }) => (requests.push(url), Promise.reject(new Error("no"))),
  };
  await expect(githubAppTokens(recorded, { now: () => now })(appOf({ baseUrl }), never)).rejects.toThrow("no");
  expect(requests).toEqual([`${api}app/installations/34/access_tokens`]);
});

test.each([
  [{ baseUrl: "https://jane:hunter2@github.example.com" }, "invalid API URL: it must hold no credentials"],
  [{ baseUrl: "ftp://hunter2" }, "invalid API URL: it is not an http or https URL"],
  [
    { privateKey: new Secret("hunter2") },
    "could not parse private key: invalid key: Key must be a PEM encoded PKCS1 or PKCS8 key",
  ],
  [
    {
      privateKey: new Secret(
        generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      ),
    },
    "could not parse private key: key is not a valid RSA private key",
  ],
])("unusable App data is refused without quoting it, %#", async (change, message) => {
  const fault = await tokens()(appOf(change), never).catch((error: unknown) => String(error));
  expect(fault).toBe(`Error: ${message}`);
  expect(asked).toEqual([]);
});

test.each(["<html>hunter2</html>", "{}", '{"token":7}'])(
  "an answer that is not from GitHub is not quoted: %s",
  async (body) => {
    answer = { status: 201, body };
    await expect(tokens()(appOf(), never)).rejects.toThrow(
      `POST ${base}/api/v3/app/installations/34/access_tokens: the answer is not the one of GitHub's API`,
    );
  },
);
