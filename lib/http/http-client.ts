import { X509Certificate } from "node:crypto";
import { lookup } from "node:dns";
import type { ClientRequest, Agent as HttpAgent, IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { getCACertificates, TLSSocket } from "node:tls";
import { messageOf } from "../core/failure.ts";
import type { NetworkPolicy } from "../core/network/network-policy.ts";
import {
  type Http,
  HttpError,
  type HttpErrorKind,
  type HttpRequest,
  type HttpResponse,
  type TlsTrust,
  trustElsewhere,
} from "../core/ports/http.ts";
import { Agent, request as requestHttp } from "../kube/node-http.ts";
import { certificateFault, isCertificateFault } from "./certificate-fault.ts";
import { assertAllowed, DestinationRefused, guardedLookup, type Resolve, type Target } from "./guarded-lookup.ts";

const maxSockets = 32;
const maxAgents = 32;

export interface HttpClientOptions {
  /** Judges each address before it is connected to, those of redirects too. */
  readonly network: NetworkPolicy;
  /** The system's resolver where absent. */
  readonly resolve?: Resolve;
}

/** The http port on Node's own client, with connections kept alive. `close` ends those that are idle. */
export function httpClient({ network, resolve = lookup }: HttpClientOptions): Http & { close(): void } {
  const connecting = { keepAlive: true, maxSockets };
  const plain = new Agent(connecting);
  const secure = new Map<string, HttpsAgent>();

  const agentFor = (url: URL, trust: TlsTrust = {}): HttpAgent => {
    if (url.protocol === "http:") return plain;
    const key = JSON.stringify(trust);
    let agent = secure.get(key);
    if (agent === undefined) {
      const oldest = secure.keys().next();
      if (secure.size >= maxAgents && oldest.done !== true) {
        secure.get(oldest.value)?.destroy();
        secure.delete(oldest.value);
      }
      agent = new HttpsAgent({ ...connecting, ...tlsOptions(trust) });
      secure.set(key, agent);
    }
    return agent;
  };

  const exchange = async (request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> => {
    let url = new URL(request.url);
    let current = request;
    for (let redirects = 0; ; redirects++) {
      const target = targetOf(current, url);
      try {
        assertAllowed(target, network);
      } catch (error) {
        throw failed("refused", request, url, messageOf(error), error);
      }
      const route = { agent: agentFor(url, current.tls), lookup: guardedLookup(target, network, resolve) };
      const response = await sendOnce(current, url, route, signal);
      const { location } = response.headers;
      const followed = request.method === "GET" || request.method === "HEAD";
      if (!followed || ![301, 302, 303, 307, 308].includes(response.status) || location === undefined) return response;
      if (redirects >= (request.maxRedirects ?? 0)) throw failed("redirect", request, url, "too many redirects");
      const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined;
      if (next === undefined || !isFollowed(next, url)) {
        throw failed("redirect", request, url, "redirected to a place that is not followed");
      }
      if (next.host !== url.host) current = withoutCredentials(current);
      url = next;
    }
  };

  return {
    async send(request, signal) {
      const timeout = AbortSignal.timeout(request.timeoutMs);
      try {
        return await exchange(request, AbortSignal.any([signal, timeout]));
      } catch (error) {
        signal.throwIfAborted();
        if (timeout.aborted) {
          throw failed("timeout", request, new URL(request.url), `no answer within ${request.timeoutMs} ms`, error);
        }
        throw error;
      }
    },
    close() {
      plain.destroy();
      for (const agent of secure.values()) agent.destroy();
    },
  };
}

function targetOf({ tokenServiceOf }: HttpRequest, { hostname, port, protocol }: URL): Target {
  return { host: hostname, port: port === "" ? (protocol === "http:" ? 80 : 443) : Number(port), tokenServiceOf };
}

/** The way to one host: what its connections are kept in, and how a new one finds its address. */
interface Route {
  readonly agent: HttpAgent;
  readonly lookup: LookupFunction;
}

async function sendOnce(
  request: HttpRequest,
  url: URL,
  route: Route,
  signal: AbortSignal,
  isRetry = false,
): Promise<HttpResponse> {
  const start = url.protocol === "http:" ? requestHttp : requestHttps;
  const { method, headers, body } = request;
  const length = body === undefined ? {} : { "content-length": body.length };
  const outgoing = start(url, { method, headers: { ...headers, ...length }, ...route, signal });
  const shown = shownCertificate(outgoing);
  let incoming: IncomingMessage;
  try {
    // Listened for before the bytes go out: a connection may fail at once.
    const answered = responseTo(outgoing);
    outgoing.end(body);
    incoming = await answered;
  } catch (error) {
    signal.throwIfAborted();
    // A kept connection that the server closed meanwhile: what may be repeated goes out once more, on a new one.
    if (outgoing.reusedSocket && !isRetry && method !== "POST" && method !== "PATCH") {
      return sendOnce(request, url, route, signal, true);
    }
    throw noAnswer(error, request, url, shown());
  }
  const answerHeaders: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) answerHeaders[name] = typeof value === "string" ? value : value.join(", ");
  }
  const bytes = await readBody(incoming, request, url, signal);
  return { status: incoming.statusCode ?? 0, headers: answerHeaders, body: bytes, url: url.href };
}

async function readBody(
  incoming: IncomingMessage,
  request: HttpRequest,
  url: URL,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const body: AsyncIterable<Uint8Array> = incoming;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > request.maxBytes) {
        throw failed("too-large", request, url, `the answer is longer than ${request.maxBytes} bytes`);
      }
      chunks.push(chunk);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HttpError) throw error;
    throw failed("protocol", request, url, `the answer broke off: ${messageOf(error)}`, error);
  }
  return Buffer.concat(chunks);
}

function responseTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once("response", resolve);
    // Kept for the time after the response too: an error that nobody listens to would end the process.
    outgoing.on("error", reject);
  });
}

function isFollowed(next: URL, from: URL): boolean {
  if (next.protocol === "https:") return true;
  return next.protocol === "http:" && from.protocol === "http:";
}

/** The request as another host gets it: neither a password or token nor a client certificate is that host's to see. */
function withoutCredentials({ tls = {}, headers = {}, ...request }: HttpRequest): HttpRequest {
  const harmless = Object.entries(headers).filter(([name]) => !credentialHeaders.has(name.toLowerCase()));
  return { ...request, headers: Object.fromEntries(harmless), tls: trustElsewhere(tls) };
}

const credentialHeaders = new Set(["authorization", "cookie", "proxy-authorization"]);

function tlsOptions({ ca, cert, key, insecure }: TlsTrust): object {
  return {
    ...(ca === undefined ? {} : { ca: [...getCACertificates("default"), ca] }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    rejectUnauthorized: insecure !== true,
  };
}

/**
 * Answers the certificate that the server of a new connection has shown. Listens before Node judges it: when the error
 * comes, the connection is gone.
 */
function shownCertificate(outgoing: ClientRequest): () => X509Certificate | undefined {
  let shown: X509Certificate | undefined;
  outgoing.once("socket", (socket) => {
    if (outgoing.reusedSocket || !(socket instanceof TLSSocket)) return;
    socket.prependOnceListener("secure", () => {
      // Not getPeerX509Certificate: after it Node finds no name in the certificate.
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
  return failed(kindOf(error, code), request, url, messageOf(error), error);
}

function kindOf(error: unknown, code: string): HttpErrorKind {
  if (error instanceof DestinationRefused) return "refused";
  // A handshake that fails is most often with a server that has no TLS.
  return /^(HPE_|ERR_SSL|EPROTO$|ECONNRESET$)/.test(code) ? "protocol" : "unreachable";
}

function failed(kind: HttpErrorKind, { method }: HttpRequest, url: URL, why: string, cause?: unknown): HttpError {
  return new HttpError(kind, `${method} ${url.origin}${url.pathname}: ${why}`, { cause });
}
