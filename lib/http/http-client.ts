import { X509Certificate } from "node:crypto";
import { lookup } from "node:dns";
import type { ClientRequest, Agent as HttpAgent, IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import * as nodeTls from "node:tls";
import { messageOf } from "../core/failure.ts";
import type { NetworkPolicy } from "../core/network/network-policy.ts";
import { DialError } from "../core/ports/dial.ts";
import {
  HttpError,
  type HttpErrorReason,
  type HttpRequest,
  type HttpStream,
  type HttpStreams,
  type Outbound,
  type TlsTrust,
  trustElsewhere,
} from "../core/ports/http.ts";
import { certificateFault, isCertificateFault } from "./certificate-fault.ts";
import { connectFault } from "./connect-fault.ts";
import { dialer } from "./dial.ts";
import { assertAllowed, DestinationRefused, guardedLookup, type Resolve, type Target } from "./guarded-lookup.ts";
import { Agent, request as requestHttp } from "./node-http.ts";
import { forwardedHeaders, isForwarded } from "./proxy-address.ts";
import { retire } from "./retire-agent.ts";

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

  const agentFor = (url: URL, trust: TlsTrust = {}): HttpAgent => {
    if (url.protocol === "http:") return plain;
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

  const open: HttpStreams["open"] = async (request, signal) => {
    const bounds = boundsOf(request, signal);
    let url = new URL(request.url);
    let current = request;
    for (let redirects = 0; ; redirects++) {
      const target = targetOf(current, url);
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
      const route = { agent, lookup: guardedLookup(target, network, resolve) };
      const response = await sendOnce(current, url, route, bounds);
      const { location } = response.headers;
      const followed = request.method === "GET" || request.method === "HEAD";
      if (!followed || ![301, 302, 303, 307, 308].includes(response.status) || location === undefined) return response;
      // To its end, so that the connection is kept.
      await bytesOf(response.body);
      if (redirects >= (request.maxRedirects ?? 0)) throw failed("redirect", request, url, "too many redirects");
      const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined;
      if (next === undefined || !isFollowed(next, url)) {
        throw failed("redirect", request, url, "redirected to an address that is not followed");
      }
      if (next.host !== url.host) current = withoutCredentials(current);
      url = next;
    }
  };

  return {
    dial,
    open,
    async send(request, signal) {
      using stream = await open(request, signal);
      const { url, status, headers } = stream;
      return { url, status, headers, body: await bytesOf(stream.body) };
    },
    close() {
      plain.destroy();
      secure.destroy();
      for (const agent of trusting.values()) agent.destroy();
    },
  };
}

/** What ends an exchange early. */
interface Bounds {
  readonly signal: AbortSignal;
  /** Throws the reason of the caller's signal, or the {@link HttpError} of the time limit, if one of them has ended it. */
  throwIfEnded(cause: unknown): void;
}

function boundsOf(request: HttpRequest, signal: AbortSignal): Bounds {
  const timeout = AbortSignal.timeout(request.timeoutMs);
  return {
    signal: AbortSignal.any([signal, timeout]),
    throwIfEnded(cause) {
      signal.throwIfAborted();
      if (!timeout.aborted) return;
      throw failed("timeout", request, new URL(request.url), `no answer within ${request.timeoutMs} ms`, cause);
    },
  };
}

function targetOf({ tokenServiceOf }: HttpRequest, { hostname, port, protocol }: URL): Target {
  return { host: hostname, port: port === "" ? (protocol === "http:" ? 80 : 443) : Number(port), tokenServiceOf };
}

/** The agent and the lookup for connections to one host. */
interface Route {
  readonly agent: HttpAgent;
  readonly lookup: LookupFunction;
}

function begin(request: HttpRequest, url: URL, route: Route, { signal }: Bounds): ClientRequest {
  const start = url.protocol === "http:" ? requestHttp : requestHttps;
  const { method, headers, body, proxy } = request;
  const length = body === undefined ? {} : { "content-length": body.length };
  const options = { method, headers: { ...headers, ...length }, ...route, signal };
  try {
    return isForwarded(url, proxy)
      ? start(url, { ...options, path: url.href, headers: { ...options.headers, ...forwardedHeaders(proxy) } })
      : start(url, options);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_INVALID_CHAR")) throw error;
    // Node's text names the header and not its value.
    throw failed("protocol", request, url, error.message, error);
  }
}

async function sendOnce(
  request: HttpRequest,
  url: URL,
  route: Route,
  bounds: Bounds,
  isRetry = false,
): Promise<HttpStream> {
  const { method, body } = request;
  const outgoing = begin(request, url, route, bounds);
  const shown = shownCertificate(outgoing);
  let incoming: IncomingMessage;
  try {
    // Listens before the bytes are sent, since a connection may fail at once.
    const answered = responseTo(outgoing);
    outgoing.end(body);
    incoming = await answered;
  } catch (error) {
    bounds.throwIfEnded(error);
    // The server has closed the kept connection: a request that may be repeated is sent once more, on a new one.
    const changes = (method === "POST" || method === "PATCH") && request.isSafe !== true;
    if (outgoing.reusedSocket && !isRetry && !changes) return sendOnce(request, url, route, bounds, true);
    throw noAnswer(error, request, url, shown());
  }
  const answerHeaders: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) answerHeaders[name] = typeof value === "string" ? value : value.join(", ");
  }
  return {
    status: incoming.statusCode ?? 0,
    headers: answerHeaders,
    url: url.href,
    body: readBody(incoming, request, url, bounds),
    [Symbol.dispose]: () => void incoming.destroy(),
  };
}

async function* readBody(
  incoming: IncomingMessage,
  request: HttpRequest,
  url: URL,
  bounds: Bounds,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  const body: AsyncIterable<Uint8Array> = incoming;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > request.maxBytes) {
        throw failed("too-large", request, url, `the answer is longer than ${request.maxBytes} bytes`);
      }
      yield chunk;
    }
  } catch (error) {
    bounds.throwIfEnded(error);
    if (error instanceof HttpError) throw error;
    throw failed("protocol", request, url, `the answer broke off: ${messageOf(error)}`, error);
  }
}

async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function responseTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once("response", resolve);
    // Stays after the response too: an error without a listener would end the process.
    outgoing.on("error", reject);
  });
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

function tlsOptions({ ca, isCaAlone, cert, key, insecure }: TlsTrust): object {
  return {
    ...(ca === undefined ? {} : { ca: isCaAlone === true ? [ca] : [...trustedByDefault(), ca] }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    rejectUnauthorized: insecure !== true,
  };
}

/** The authorities that Node trusts. The installed command also runs on Node 20, which knows only those that it is built with. */
function trustedByDefault(): readonly string[] {
  const names: object = nodeTls;
  return "getCACertificates" in names ? nodeTls.getCACertificates("default") : nodeTls.rootCertificates;
}

/**
 * Answers the certificate that the server of a new connection presents. It is read before Node judges it, since the connection
 * is closed by the time of the error.
 */
function shownCertificate(outgoing: ClientRequest): () => X509Certificate | undefined {
  let shown: X509Certificate | undefined;
  outgoing.once("socket", (socket) => {
    if (outgoing.reusedSocket || !(socket instanceof nodeTls.TLSSocket)) return;
    socket.prependOnceListener("secure", () => {
      // Not getPeerX509Certificate: after calling it, Node finds no name in the certificate.
      const certificate = socket.getPeerCertificate(true);
      if ("raw" in certificate) shown = new X509Certificate(certificate.raw);
    });
  });
  return () => shown;
}

function noAnswer(error: unknown, request: HttpRequest, url: URL, shown: X509Certificate | undefined): HttpError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (isCertificateFault(code)) {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    return failed("tls", request, url, certificateFault(code, shown, host, new Date()), error);
  }
  const hasTried =
    error instanceof Error && "syscall" in error && ["connect", "getaddrinfo"].includes(String(error.syscall));
  const why = hasTried ? connectFault(error, targetOf(request, url)) : messageOf(error);
  return failed(reasonOf(error, code), request, url, why, error);
}

function reasonOf(error: unknown, code: string): HttpErrorReason {
  if (error instanceof DestinationRefused) return "refused";
  if (error instanceof DialError) return error.reason === "proxy" ? "unreachable" : error.reason;
  // A handshake fails mostly because the server does not speak TLS.
  return /^(HPE_|ERR_SSL|EPROTO$|ECONNRESET$)/.test(code) ? "protocol" : "unreachable";
}

function failed(reason: HttpErrorReason, { method }: HttpRequest, url: URL, why: string, cause?: unknown): HttpError {
  return new HttpError(reason, `${method} ${url.origin}${url.pathname}: ${why}`, { cause });
}
