import { z } from "zod";
import type { Clock } from "../../core/ports/clock.ts";
import { type Http, HttpError, type HttpRequest, type HttpResponse, trustElsewhere } from "../../core/ports/http.ts";
import { parseChallenge } from "./challenge.ts";
import type { RegistryCredentials } from "./docker-config.ts";
import { parseJson } from "./parse-json.ts";
import type { RegistryAccess } from "./registry-access.ts";
import { RegistryFault } from "./registry-fault.ts";

export const maxTokenBytes = 256 * 1024;
const TokenAnswer = z.object({ token: z.string().optional(), access_token: z.string().optional() });

/**
 * Sends requests to one registry, logging in where it asks for it: credentials as they are (basic), or exchanged for a
 * token at the realm that the registry names (bearer), with which anonymous clients get theirs too. Whether the realm may be
 * where it is, the network policy says.
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
      throw new HttpError("protocol", `${access.host} asks to log in at a place that is not https`);
    }
    for (const name of ["service", "scope"]) {
      const value = challenge.parameters[name];
      if (value !== undefined) realm.searchParams.set(name, value);
    }
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
    if (answered.status !== 200) throw new RegistryFault(tokenRequest, answered, clock.now());
    const parsed = TokenAnswer.safeParse(parseJson(answered.body));
    const token = parsed.data?.token ?? parsed.data?.access_token;
    if (token === undefined)
      throw new HttpError("protocol", `GET ${realm.origin}${realm.pathname}: no token in the answer`);
    return `Bearer ${token}`;
  };

  return async (request, signal) => {
    credentials ??= await access.login?.(signal);
    const identified: HttpRequest = {
      ...request,
      headers: { "user-agent": access.userAgent ?? "sluice", ...request.headers },
    };
    const response = await http.send(withAuthorization(identified, authorization), signal);
    // Another host, which a redirect led to, is asked for nothing and given nothing.
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
