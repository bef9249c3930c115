import type { ClientRequest, Agent as HttpAgent, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { LookupFunction } from "node:net";
import { messageOf } from "../core/failure.ts";
import { HttpError, type HttpRequest, type HttpResponse } from "../core/ports/http.ts";
import type { Bounds } from "./exchange-bounds.ts";
import { failed, noAnswer } from "./http-failure.ts";
import { request as start } from "./node-http.ts";
import { forwardedHeaders, isForwarded } from "./proxy-address.ts";
import type { RequestUrl } from "./request-url.ts";
import { shownCertificate } from "./tls.ts";

/** How the body of an answer is read: whole, or as it arrives. */
export type Reading = "stream" | "whole";

/** An answer whose head has arrived. */
export interface Answered extends Pick<HttpResponse, "headers" | "status"> {
  readonly url: URL;
  readonly incoming: IncomingMessage;
  /** Undefined if it is read as it arrives. */
  readonly whole: Promise<Uint8Array> | undefined;
}

/** The agent and the lookup for connections to one host. */
interface Route {
  readonly agent: HttpAgent;
  readonly lookup: LookupFunction;
}

function begin(
  request: HttpRequest,
  { auth, host, path, port, url }: RequestUrl,
  { agent, lookup }: Route,
): ClientRequest {
  const { method, proxy } = request;
  const forwarded = isForwarded(url, proxy);
  const headers = headersOf(request, forwarded ? forwardedHeaders(proxy) : undefined);
  const { protocol } = url;
  try {
    // One shape for all requests: Node copies it several times.
    return start({ protocol, host, port, path: forwarded ? url.href : path, method, headers, agent, lookup, auth });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_INVALID_CHAR")) throw error;
    // Node's text names the header and not its value.
    throw failed("protocol", request, url, error.message, error);
  }
}

function headersOf({ body, headers }: HttpRequest, more: OutgoingHttpHeaders | undefined): OutgoingHttpHeaders {
  const sent: OutgoingHttpHeaders = { ...headers };
  if (body !== undefined) sent["content-length"] = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  return more === undefined ? sent : { ...sent, ...more };
}

/**
 * Sends a request to one address, without following redirects; once more if the server had closed the kept connection.
 *
 * @throws HttpError if there is no answer
 */
export async function sendOnce(
  request: HttpRequest,
  to: RequestUrl,
  route: Route & { readonly reading: Reading },
  bounds: Bounds,
  isRetry = false,
): Promise<Answered> {
  const { method, body } = request;
  const { url } = to;
  const outgoing = begin(request, to, route);
  bounds.end(outgoing);
  const shown = shownCertificate(outgoing);
  try {
    return await new Promise<Answered>((resolve, reject) => {
      outgoing.once("response", (incoming: IncomingMessage) => {
        // Listens at once: Node buffers what arrives before.
        const whole = route.reading === "whole" ? wholeBody({ incoming, url }, request, bounds) : undefined;
        resolve({ status: incoming.statusCode ?? 0, headers: headersIn(incoming), url, incoming, whole });
      });
      // Stays after the response too: an error without a listener would end the process.
      outgoing.on("error", reject);
      endWith(outgoing, body);
    });
  } catch (error) {
    bounds.throwIfEnded(error);
    // The server has closed the kept connection: a request that may be repeated is sent once more, on a new one.
    const changes = (method === "POST" || method === "PATCH") && request.isSafe !== true;
    if (outgoing.reusedSocket && !isRetry && !changes) return sendOnce(request, to, route, bounds, true);
    throw noAnswer(error, request, url, shown());
  }
}

/**
 * Sends the body. Node writes head and body at once where both are text, in one encoding: in UTF-8 it would change a header that is not ASCII,
 * so only a body of ASCII is sent as text.
 */
function endWith(outgoing: ClientRequest, body: HttpRequest["body"]): void {
  if (typeof body !== "string") outgoing.end(body);
  else if (Buffer.byteLength(body) === body.length) outgoing.end(body, "latin1");
  else outgoing.end(Buffer.from(body));
}

function headersIn({ headers }: IncomingMessage): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined) texts[name] = typeof value === "string" ? value : value.join(", ");
  }
  return texts;
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
export function wholeBody(
  { incoming, url }: Pick<Answered, "incoming" | "url">,
  request: HttpRequest,
  bounds: Bounds,
): Promise<Uint8Array> {
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
  return failed("too-large", request, url, `the answer is longer than ${request.maxBytes} bytes`, undefined, true);
}

/** Why a body did not come to its end. Throws instead if the exchange was ended early. */
function brokenOff(error: unknown, request: HttpRequest, url: URL, bounds: Bounds): HttpError {
  bounds.throwIfEnded(error, true);
  if (error instanceof HttpError) return error;
  return failed("protocol", request, url, `the answer broke off: ${messageOf(error)}`, error, true);
}
