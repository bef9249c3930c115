import { z } from "zod";
import type { Clock } from "../../core/ports/clock.ts";
import type { Proxy } from "../../core/ports/dial.ts";
import {
  type Http,
  HttpError,
  type HttpRequest,
  type HttpResponse,
  type TlsTrust,
  trustElsewhere,
} from "../../core/ports/http.ts";
import type { RegistryCredentials } from "./docker-config.ts";
import { jsonOf, RegistryFault } from "./registry-fault.ts";

/** How to connect and log in to one registry. */
export interface RegistryAccess {
  /** `host` or `host:port`. */
  readonly host: string;
  /** Allows plain HTTP if the registry does not speak TLS. */
  readonly insecure: boolean;
  readonly tls?: TlsTrust;
  /** Every request goes through it, also those to the token service. */
  readonly proxy?: Proxy;
  readonly credentials?: RegistryCredentials;
  /** Called before the first request, with its URL, if there are no `credentials`: the login that a cloud issues. */
  readonly login?: (signal: AbortSignal, url: string) => Promise<RegistryCredentials>;
  /** For each request; 30 s by default. */
  readonly timeoutMs?: number;
  /** For all requests of one client together; unlimited by default. */
  readonly totalMs?: number;
  readonly userAgent?: string;
}

export const maxTokenBytes = 256 * 1024;
const TokenAnswer = z.object({ token: z.string().optional(), access_token: z.string().optional() });

/**
 * Sends requests to one registry and logs in if it asks for that: with the credentials themselves (basic), or with a token from
 * the realm that the registry names (bearer), where anonymous clients get one too. The network policy judges the realm's host.
 */
export function authorizer(
  access: RegistryAccess,
  http: Http,
  clock: Clock,
): (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse> {
  let authorization: string | undefined;
  let { credentials } = access;
  const { tls } = access;

  const login = async (
    response: HttpResponse,
    request: HttpRequest,
    signal: AbortSignal,
  ): Promise<string | undefined> => {
    const basic = credentials && basicOf(credentials);
    const challenge = parseChallenge(response.headers["www-authenticate"] ?? "");
    if (challenge === undefined || challenge.scheme === "basic") return basic;
    const realm = URL.canParse(challenge.realm) ? new URL(challenge.realm) : undefined;
    const isSafe = realm?.protocol === "https:" || (realm?.protocol === "http:" && request.url.startsWith("http:"));
    if (realm === undefined || !isSafe) {
      throw new HttpError("protocol", `${access.host} asks to log in at an address that is not https`);
    }
    for (const name of ["service", "scope"]) {
      const value = challenge.parameters[name];
      if (value !== undefined) realm.searchParams.set(name, value);
    }
    // As Go's clients write a query.
    realm.searchParams.sort();
    const tokenRequest: HttpRequest = {
      method: "GET",
      url: realm.href,
      headers: basic === undefined ? {} : { authorization: basic },
      timeoutMs: request.timeoutMs,
      maxBytes: maxTokenBytes,
      tokenServiceOf: access.host,
      ...(tls === undefined ? {} : { tls: isSameHost(realm.href, request.url) ? tls : trustElsewhere(tls) }),
    };
    const answered = await http.send(tokenRequest, signal);
    if (answered.status !== 200) throw new RegistryFault(tokenRequest, answered, clock.now(), request);
    const parsed = TokenAnswer.safeParse(jsonOf(answered.body));
    const token = parsed.data?.token ?? parsed.data?.access_token;
    if (token === undefined)
      throw new HttpError("protocol", `GET ${realm.origin}${realm.pathname}: no token in the answer`);
    return `Bearer ${token}`;
  };

  return async (request, signal) => {
    credentials ??= await access.login?.(signal, request.url);
    const identified: HttpRequest = {
      ...request,
      headers: { "user-agent": access.userAgent ?? "sluice", ...request.headers },
    };
    const response = await http.send(withAuthorization(identified, authorization), signal);
    // The challenge of another host, which a redirect led to, is not answered.
    if (response.status !== 401 || !isSameHost(response.url, request.url)) return response;
    const fresh = await login(response, request, signal);
    if (fresh === undefined || fresh === authorization) return response;
    authorization = fresh;
    return http.send(withAuthorization(identified, authorization), signal);
  };
}

function isSameHost(a: string, b: string): boolean {
  return new URL(a).host === new URL(b).host;
}

function basicOf({ username, password }: RegistryCredentials): string {
  return `Basic ${Buffer.from(`${username}:${password.reveal()}`).toString("base64")}`;
}

function withAuthorization(request: HttpRequest, authorization: string | undefined): HttpRequest {
  return authorization === undefined ? request : { ...request, headers: { ...request.headers, authorization } };
}

/** The challenge in a registry's 401. */
type Challenge =
  | { readonly scheme: "basic" }
  | { readonly scheme: "bearer"; readonly realm: string; readonly parameters: Readonly<Record<string, string>> };

/**
 * Reads a `WWW-Authenticate` header (RFC 9110). If there are several challenges, a bearer challenge is used. Undefined for other schemes.
 */
function parseChallenge(header: string): Challenge | undefined {
  const bearer = /(?:^|,\s*)bearer\s+(.*)$/i.exec(header)?.[1];
  if (bearer !== undefined) {
    const parameters: Record<string, string> = {};
    for (const [, key = "", quoted, plain = ""] of bearer.matchAll(
      /([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi,
    )) {
      parameters[key.toLowerCase()] ??= quoted?.replaceAll(/\\(.)/g, "$1") ?? plain;
    }
    const { realm } = parameters;
    if (realm !== undefined) return { scheme: "bearer", realm, parameters };
  }
  return /(?:^|,\s*)basic(?:\s|$|,)/i.test(header) ? { scheme: "basic" } : undefined;
}
