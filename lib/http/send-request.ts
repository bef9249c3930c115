import type { ClientRequest, Agent as HttpAgent, IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { messageOf } from "../core/failure.ts";
import { HttpError, type HttpRequest, type HttpStream } from "../core/ports/http.ts";
import { failed, noAnswer } from "./http-failure.ts";
import { request as requestHttp } from "./node-http.ts";
import { forwardedHeaders, isForwarded } from "./proxy-address.ts";
import { shownCertificate } from "./tls.ts";

/** What ends an exchange early. */
interface Bounds {
  readonly signal: AbortSignal;
  /** Throws the reason of the caller's signal, or the {@link HttpError} of the time limit, if one of them has ended it. */
  throwIfEnded(cause: unknown): void;
}

/** The time limit of a request, beside the signal of its caller. */
export function boundsOf(request: HttpRequest, signal: AbortSignal): Bounds {
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

/**
 * Sends a request to one address, without following redirects; once more if the server had closed the kept connection.
 *
 * @throws HttpError if there is no answer
 */
export async function sendOnce(
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

function responseTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once("response", resolve);
    // Stays after the response too: an error without a listener would end the process.
    outgoing.on("error", reject);
  });
}

/** A whole body: {@link sendOnce} limits its length. */
export async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
