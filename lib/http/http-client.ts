import { lookup } from "node:dns";
import type { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { messageOf } from "../core/failure.ts";
import type { NetworkPolicy } from "../core/network/network-policy.ts";
import {
  type HttpRequest,
  type Outbound,
  type TlsTrust,
  tooManyRedirects,
  trustElsewhere,
} from "../core/ports/http.ts";
import { dialer } from "./dial.ts";
import { type Bounds, boundsOf } from "./exchange-bounds.ts";
import { assertAllowed, guardedLookup, type Resolve } from "./guarded-lookup.ts";
import { failed } from "./http-failure.ts";
import { Agent } from "./node-http.ts";
import { requestUrl } from "./request-url.ts";
import { retire } from "./retire-agent.ts";
import { type Answered, type Reading, readBody, sendOnce, wholeBody } from "./send-request.ts";
import { tlsOptions } from "./tls.ts";

const maxSockets = 32;
/** The limit for agents with certificates from objects. */
const maxAgents = 32;

export interface HttpClientOptions {
  /** Judges each address before a connection is made, also for redirects. */
  readonly network: NetworkPolicy;
  /** The system's resolver by default. */
  readonly resolve?: Resolve;
}

/** The ports to hosts that objects name, on Node's own clients, with kept connections of HTTP. `close` ends the idle ones. */
export function httpClient({ network, resolve = lookup }: HttpClientOptions): Outbound & { close(): void } {
  const connecting = { keepAlive: true, maxSockets };
  const plain = new Agent(connecting);
  const secure = new HttpsAgent({ ...connecting, ...tlsOptions({}) });
  /** By trust; the one that was used last is the last. */
  const trusting = new Map<string, HttpsAgent>();

  const dial = dialer({ network, resolve });

  const agentFor = (url: URL, trust: TlsTrust | undefined): HttpAgent => {
    if (url.protocol === "http:") return plain;
    if (trust === undefined) return secure;
    const key = JSON.stringify(trust);
    if (key === "{}") return secure;
    const agent = trusting.get(key) ?? new HttpsAgent({ ...connecting, ...tlsOptions(trust) });
    trusting.delete(key);
    const [longestUnused] = trusting;
    if (trusting.size >= maxAgents && longestUnused !== undefined) {
      trusting.delete(longestUnused[0]);
      retire(longestUnused[1]);
    }
    trusting.set(key, agent);
    return agent;
  };

  /** The answer after all redirects. */
  const answerTo = async (request: HttpRequest, reading: Reading, bounds: Bounds): Promise<Answered> => {
    let to = requestUrl(new URL(request.url));
    let current = request;
    for (let redirects = 0; ; redirects++) {
      const { url } = to;
      const { tokenServiceOf } = current;
      const target = tokenServiceOf === undefined ? to.target : { ...to.target, tokenServiceOf };
      try {
        assertAllowed(target, network);
      } catch (error) {
        throw failed("refused", request, url, messageOf(error), error);
      }
      const { proxy, tls } = current;
      const agent =
        proxy === undefined
          ? agentFor(url, tls)
          : (await import("./proxy-agents.ts")).proxyAgent(url, {
              proxy,
              dial,
              tls: tlsOptions(tls ?? {}),
              signal: bounds.signal,
            });
      const route = { agent, lookup: guardedLookup(target, network, resolve), reading };
      const response = await sendOnce(current, to, route, bounds);
      const { location } = response.headers;
      const followed = request.method === "GET" || request.method === "HEAD";
      if (!followed || ![301, 302, 303, 307, 308].includes(response.status) || location === undefined) return response;
      // To its end, so that the connection is kept.
      await (response.whole ?? wholeBody(response, request, bounds));
      if (redirects >= (request.maxRedirects ?? 0))
        throw failed("redirect", request, url, tooManyRedirects, undefined, true);
      const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined;
      if (next === undefined || !isFollowed(next, url)) {
        throw failed("redirect", request, url, "redirected to an address that is not followed", undefined, true);
      }
      if (next.host !== url.host) current = withoutCredentials(current);
      to = requestUrl(next);
    }
  };

  return {
    dial,
    async open(request, signal) {
      const bounds = boundsOf(request, signal);
      try {
        const answered = await answerTo(request, "stream", bounds);
        const { headers, incoming, status, url } = answered;
        const end = (): void => {
          bounds.release();
          incoming.destroy();
        };
        return { headers, status, url: url.href, body: readBody(answered, request, bounds), [Symbol.dispose]: end };
      } catch (error) {
        bounds.release();
        throw error;
      }
    },
    async send(request, signal) {
      const bounds = boundsOf(request, signal);
      try {
        const answered = await answerTo(request, "whole", bounds);
        const { headers, status, url } = answered;
        return { url: url.href, status, headers, body: await (answered.whole ?? wholeBody(answered, request, bounds)) };
      } finally {
        bounds.release();
      }
    },
    close() {
      plain.destroy();
      secure.destroy();
      for (const agent of trusting.values()) agent.destroy();
    },
  };
}

function isFollowed(next: URL, from: URL): boolean {
  if (next.protocol === "https:") return true;
  return next.protocol === "http:" && from.protocol === "http:";
}

/** The request for another host, without password, token and client certificate. */
function withoutCredentials({ tls = {}, headers = {}, ...request }: HttpRequest): HttpRequest {
  const harmless = Object.entries(headers).filter(([name]) => !credentialHeaders.has(name.toLowerCase()));
  return { ...request, headers: Object.fromEntries(harmless), tls: trustElsewhere(tls) };
}

const credentialHeaders = new Set(["authorization", "cookie", "proxy-authorization"]);
