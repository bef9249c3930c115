import type { ClientRequest, Agent as HttpAgent, IncomingMessage, RequestOptions } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { messageOf } from "../core/failure.ts";
import { HttpError, type HttpRequest, type HttpResponse } from "../core/ports/http.ts";
import type { Bounds } from "./exchange-bounds.ts";
import { failed, noAnswer } from "./http-failure.ts";
import { request as requestHttp } from "./node-http.ts";
import { forwardedHeaders, isForwarded } from "./proxy-address.ts";
import { shownCertificate } from "./tls.ts";

/** An answer whose body was not read yet. */
export interface Answered extends Pick<HttpResponse, "headers" | "status"> {
  readonly url: URL;
  readonly incoming: IncomingMessage;
}

/** The agent and the lookup for connections to one host. */
interface Route {
  readonly agent: HttpAgent;
  readonly lookup: LookupFunction;
}

function begin(request: HttpRequest, url: URL, route: Route): ClientRequest {
  const start = url.protocol === "http:" ? requestHttp : requestHttps;
  const { method, headers, body, proxy } = request;
  const length = body === undefined ? {} : { "content-length": body.length };
  const options = { ...placeOf(url), method, headers: { ...headers, ...length }, ...route };
  try {
    return isForwarded(url, proxy)
      ? start({ ...options, path: url.href, headers: { ...options.headers, ...forwardedHeaders(proxy) } })
      : start(options);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_INVALID_CHAR")) throw error;
    // Node's text names the header and not its value.
    throw failed("protocol", request, url, error.message, error);
  }
}

/** Not the URL itself: Node makes an object without a shape of it, which costs as much as the rest of the request. */
function placeOf({ hostname, password, pathname, port, protocol, search, username }: URL): RequestOptions {
  return {
    protocol,
    hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    port,
    path: `${pathname}${search}`,
    ...(username === "" && password === ""
      ? {}
      : { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` }),
  };
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
): Promise<Answered> {
  const { method, body } = request;
  const outgoing = begin(request, url, route);
  bounds.end(outgoing);
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
  return { status: incoming.statusCode ?? 0, headers: answerHeaders, url, incoming };
}

/** The body as it arrives. Throws as the port says. */
export async function* readBody(
  { incoming, url }: Answered,
  request: HttpRequest,
  bounds: Bounds,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  const body: AsyncIterable<Uint8Array> = incoming;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > request.maxBytes) throw tooLarge(request, url);
      yield chunk;
    }
  } catch (error) {
    throw brokenOff(error, request, url, bounds);
  }
}

/** The whole body. Uses events, not `for await`: for a short answer the iterator costs more than the request. Throws as the port says. */
export function wholeBody({ incoming, url }: Answered, request: HttpRequest, bounds: Bounds): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  incoming.on("data", (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > request.maxBytes) incoming.destroy(tooLarge(request, url));
    else chunks.push(chunk);
  });
  incoming.on("end", () => resolve(Buffer.concat(chunks, bytes)));
  const fail = (error: unknown): void => {
    try {
      reject(brokenOff(error, request, url, bounds));
    } catch (reason) {
      reject(reason);
    }
  };
  incoming.on("error", fail);
  // Not `complete`: an answer that has come whole may be destroyed before its end was read.
  incoming.on("close", () => {
    if (!incoming.readableEnded) fail(new Error("aborted"));
  });
  return promise;
}

function tooLarge(request: HttpRequest, url: URL): HttpError {
  return failed("too-large", request, url, `the answer is longer than ${request.maxBytes} bytes`);
}

/** Why a body did not come to its end. Throws instead if the exchange was ended early. */
function brokenOff(error: unknown, request: HttpRequest, url: URL, bounds: Bounds): HttpError {
  bounds.throwIfEnded(error);
  if (error instanceof HttpError) return error;
  return failed("protocol", request, url, `the answer broke off: ${messageOf(error)}`, error);
}

function responseTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once("response", resolve);
    // Stays after the response too: an error without a listener would end the process.
    outgoing.on("error", reject);
  });
}
