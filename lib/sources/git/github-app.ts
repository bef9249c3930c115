import { createHash, createPrivateKey, createSign, type KeyObject } from "node:crypto";
import { z } from "zod";
import { byteBoundedCache } from "../../core/byte-bounded-cache.ts";
import { messageOf } from "../../core/failure.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Proxy } from "../../core/ports/dial.ts";
import { type Http, HttpError, type HttpResponse, type TlsTrust } from "../../core/ports/http.ts";
import { Secret } from "../../core/secret.ts";
import { maxKeyChars, maxRsaBits } from "./ssh-key.ts";

/** A GitHub App, and which of its installations is meant. */
export interface GitHubApp {
  readonly id: string;
  /** PEM of an RSA key. */
  readonly privateKey: Secret;
  readonly installation: { readonly id: string } | { readonly owner: string };
  /** The address of one's own GitHub, or of its API. */
  readonly baseUrl?: string | undefined;
  readonly tls?: TlsTrust | undefined;
  readonly proxy?: Proxy | undefined;
}

/** Answers a token of the installation. Throws an `Error` whose message holds no credential, or the reason of `signal`. */
export type GitHubAppToken = (app: GitHubApp, signal: AbortSignal) => Promise<Secret>;

/** A token of an installation, and the name by which GitHub knows its App: undefined unless it was asked for. */
export interface GitHubAppLogin {
  readonly token: Secret;
  readonly slug: string | undefined;
}

/** {@link GitHubAppToken} that asks for the App's slug too, where `hasSlug` says so. */
export type GitHubAppLogins = (
  app: GitHubApp,
  options: { readonly hasSlug: boolean },
  signal: AbortSignal,
) => Promise<GitHubAppLogin>;

/** GitHub's own API. */
const publicApi = "https://api.github.com/";
const timeoutMs = 10_000;
const maxAnswerBytes = 1024 * 1024;
/** A run that begins just before a token expires still has to fetch with it. */
const renewBeforeMs = 5 * 60_000;
/** The limit for all tokens together, which have some hundred characters each. */
export const maxTokenBytes = 256 * 1024;

const App = z.object({ slug: z.string().default("") });
const Installation = z.object({ id: z.int() });
const Token = z.object({ token: z.string().min(1), expires_at: z.string() });

/** {@link githubAppLogins} of which only the token is asked for. */
export function githubAppTokens(http: Http, clock: Pick<Clock, "now">): GitHubAppToken {
  const login = githubAppLogins(http, clock);
  return async (app, signal) => (await login(app, { hasSlug: false }, signal)).token;
}

/**
 * Tokens of installations of GitHub Apps, as Flux gets them (auth/githubapp). A token is kept in memory until five minutes before
 * its end, for exactly the same app, key, address and trust.
 */
export function githubAppLogins(http: Http, clock: Pick<Clock, "now">): GitHubAppLogins {
  const kept = byteBoundedCache<string, { readonly login: GitHubAppLogin; readonly until: number }>(
    maxTokenBytes,
    ({ login: { token, slug = "" } }) => 2 * (token.reveal().length + slug.length),
  );
  return async (app, { hasSlug }, signal) => {
    const key = `${hasSlug ? "with slug " : ""}${cacheKey(app)}`;
    const known = kept.get(key);
    if (known !== undefined && clock.now() < known.until) return known.login;
    kept.delete(key);
    const api = apiOf(app.baseUrl);
    const ask = asker(http, app, { api, jwt: appJwt(app, clock.now()) });
    const slug = hasSlug ? await slugOf(ask, signal) : undefined;
    const id =
      "id" in app.installation ? app.installation.id : await installationId(app.installation.owner, ask, signal);
    const { token, expires_at } = await ask("POST", `app/installations/${id}/access_tokens`, Token, signal);
    const login = { token: new Secret(token), slug };
    kept.set(key, { login, until: Date.parse(expires_at) - renewBeforeMs });
    return login;
  };
}

async function slugOf(ask: Ask, signal: AbortSignal): Promise<string> {
  try {
    return (await ask("GET", "app", App, signal)).slug;
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`failed to get app information: ${messageOf(error)}`, { cause: error });
  }
}

/** A digest, so that no key lies about as the key of a map. */
function cacheKey({ id, installation, privateKey, baseUrl, tls, proxy }: GitHubApp): string {
  const way = [proxy?.url.href, proxy?.username, proxy?.password?.reveal()];
  const all = JSON.stringify([id, installation, privateKey.reveal(), baseUrl, tls, way]);
  return createHash("sha256").update(all).digest("hex");
}

type Ask = <Answer>(
  method: "GET" | "POST",
  path: string,
  schema: z.ZodType<Answer>,
  signal: AbortSignal,
) => Promise<Answer>;

function asker(
  http: Http,
  { tls, proxy }: GitHubApp,
  { api, jwt }: { readonly api: string; readonly jwt: string },
): Ask {
  return async (method, path, schema, signal) => {
    const url = api + path;
    const headers = {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${jwt}`,
      "user-agent": "sluice",
      "x-github-api-version": "2022-11-28",
    };
    const request = { method, url, headers, timeoutMs, maxBytes: maxAnswerBytes, tls, proxy };
    const { status, body }: HttpResponse = await http.send(request, signal).catch((error: unknown) => {
      if (!(error instanceof HttpError)) throw error;
      const isOfConnection = error.reason === "unreachable" || error.reason === "tls";
      // In the words of Go's client, which Flux uses.
      const [, why] = isOfConnection ? (/^(?:GET|POST) \S+: (.*)$/s.exec(error.message) ?? []) : [];
      const said = why === undefined ? error.message : `${method === "GET" ? "Get" : "Post"} "${url}": ${why}`;
      throw new Error(said, { cause: error });
    });
    if (status < 200 || status > 299) throw new Error(`${method} ${url}: ${status}`);
    try {
      return schema.parse(JSON.parse(Buffer.from(body).toString("utf8")));
    } catch (error) {
      throw new Error(`${method} ${url}: the answer is not the one of GitHub's API`, { cause: error });
    }
  };
}

/** The owner is looked up as an organisation, then as a user. */
async function installationId(owner: string, ask: Ask, signal: AbortSignal): Promise<number> {
  const name = encodeURIComponent(owner);
  try {
    return (await ask("GET", `orgs/${name}/installation`, Installation, signal)).id;
  } catch (first) {
    signal.throwIfAborted();
    try {
      return (await ask("GET", `users/${name}/installation`, Installation, signal)).id;
    } catch (error) {
      signal.throwIfAborted();
      const both = `failed to find organization installation: ${messageOf(first)}\nfailed to find user installation: ${messageOf(error)}`;
      throw new Error(both, { cause: error });
    }
  }
}

/** GitHub's API, or that of the server at this address, as Flux finds it. Throws without quoting what may hold a password. */
function apiOf(baseUrl: string | undefined): string {
  if (baseUrl === undefined || baseUrl === "") return publicApi;
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl))
    throw new Error("invalid API URL: it is not an http or https URL");
  const url = new URL(baseUrl);
  if (url.username !== "" || url.password !== "") throw new Error("invalid API URL: it must hold no credentials");
  const path = url.pathname.replace(/\/?$/, "/");
  const isApi = url.host.startsWith("api.") || url.host.includes(".api.") || path.endsWith("/api/v3/");
  return url.origin + (isApi ? path : `${path}api/v3/`);
}

/** RS256, issued half a minute in the past for a clock that is ahead, and valid for two minutes from then. */
function appJwt({ id, privateKey }: GitHubApp, now: number): string {
  const pem = privateKey.reveal();
  if (pem.length > maxKeyChars)
    throw new Error(`could not parse private key: it has more than ${maxKeyChars} characters`);
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    throw new Error("could not parse private key: invalid key: Key must be a PEM encoded PKCS1 or PKCS8 key", {
      cause: error,
    });
  }
  if (key.asymmetricKeyType !== "rsa")
    throw new Error("could not parse private key: key is not a valid RSA private key");
  const { modulusLength: bits = 0 } = key.asymmetricKeyDetails ?? {};
  if (bits > maxRsaBits) {
    throw new Error(`could not parse private key: it has ${bits} bits, and at most ${maxRsaBits} are supported`);
  }
  const issued = Math.floor(now / 1000) - 30;
  const encoded = [
    { alg: "RS256", typ: "JWT" },
    { iss: id, exp: issued + 120, iat: issued },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
  const text = encoded.join(".");
  return `${text}.${createSign("RSA-SHA256").update(text).sign(key).toString("base64url")}`;
}
