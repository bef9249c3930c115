import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { messageOf } from "../core/failure.ts";
import { isJsonObject } from "../core/json.ts";
import type { NetworkPolicy } from "../core/network/network-policy.ts";
import { ApiError } from "../core/ports/cluster.ts";
import { DialError } from "../core/ports/dial.ts";
import { assertAllowed, DestinationRefused } from "../http/guarded-lookup.ts";
import { request as start } from "../http/node-http.ts";
import { agentsOf, placeOf } from "./agents.ts";
import { type AnswerBudget, AnswerTooLong, type Held } from "./answer-limits.ts";
import type { ClientCertificate, ClusterConfig } from "./cluster-config.ts";

/** One HTTP exchange with the API server. */
export interface Exchange {
  readonly method: "DELETE" | "GET" | "HEAD" | "PATCH" | "POST" | "PUT";
  /** Path and query, below the server's URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly certificate: ClientCertificate | undefined;
  readonly body: string | Uint8Array | undefined;
  /** Time limit for the whole answer, or for the head of a stream. */
  readonly limitMs: number;
  /** Sending it twice does no harm, so it is sent again if a kept connection turns out to be closed. */
  readonly repeatable: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** Names and values in turn: several headers of one name are kept apart. */
  readonly rawHeaders: readonly string[];
  readonly text: string;
}

export interface Transport {
  /** Throws an {@link ApiError} of code 0 if there is no answer, or the signal's reason. */
  send(exchange: Exchange, signal: AbortSignal): Promise<Answer>;
  /** As `send`, for an answer that is read as a stream, on a connection of its own. The signal ends it. */
  open(exchange: Exchange, signal: AbortSignal): Promise<IncomingMessage>;
  /** Closes the kept connections. */
  close(): void;
  /** Closes them once they are idle, and keeps no others. */
  retire(): void;
}

/** The server had closed a kept connection before it answered anything. */
class StaleConnection extends Error {
  override readonly name = "StaleConnection";
}

/** What becomes of an answer whose head has arrived. */
interface Use<Read> {
  readonly stream: boolean;
  readonly read: (response: IncomingMessage) => Read | Promise<Read>;
}

const asStream: Use<IncomingMessage> = { stream: true, read: (response) => response };

/**
 * HTTP to one API server, on kept connections.
 *
 * @param budget what is held of its answers
 * @param network of a server that a user names: judges where the requests go. Absent for the installation's own clusters
 */
export function transport(config: ClusterConfig, budget: AnswerBudget, network?: NetworkPolicy): Transport {
  const { answer, arriving } = budget;
  const agents = agentsOf(config, network);
  const whole: Use<Answer> = {
    stream: false,
    async read(response) {
      const { headers, rawHeaders, statusCode = 0 } = response;
      return { status: statusCode, headers, rawHeaders, text: await readText(response, answer, arriving) };
    },
  };
  const { server } = config;
  const base = server.pathname.replace(/\/$/, "");
  const place = placeOf(server);

  const attempt = async <Read>(exchange: Exchange, use: Use<Read>, signal: AbortSignal): Promise<Read> => {
    // An address needs no lookup, and a kept connection none either.
    if (network !== undefined) assertAllowed(place, network);
    const request = start({
      protocol: server.protocol,
      host: place.host,
      port: place.port,
      method: exchange.method,
      path: `${base}${exchange.path}`,
      headers: headersOf(exchange),
      agent: agents.of(exchange.certificate, use.stream),
    });
    const { promise, resolve, reject } = Promise.withResolvers<Read>();
    // Listens at once: Node buffers what arrives before.
    request.on("response", (response) => resolve(use.read(response)));
    request.on("error", (error) => {
      reject(request.reusedSocket && isReset(error) ? new StaleConnection("closed", { cause: error }) : error);
    });
    const onAbort = () => {
      reject(signal.reason);
      request.destroy();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    request.on("close", () => {
      signal.removeEventListener("abort", onAbort);
    });
    if (signal.aborted) onAbort();
    else request.end(exchange.body);
    return await promise;
  };

  const begin = async <Read>(exchange: Exchange, use: Use<Read>, signal: AbortSignal): Promise<Read> => {
    try {
      return await attempt(exchange, use, signal);
    } catch (error) {
      if (!(error instanceof StaleConnection) || !exchange.repeatable) throw error;
      return await attempt(exchange, use, signal);
    }
  };

  const explained = async <T>(exchange: Exchange, signal: AbortSignal, work: (limit: AbortSignal) => Promise<T>) => {
    signal.throwIfAborted();
    using limit = timeLimit(exchange.limitMs, signal);
    try {
      return await work(limit.signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ApiError) throw error;
      throw unreachable(
        config,
        limit.signal.aborted ? `no answer within ${exchange.limitMs / 1000}s` : reasonOf(error, config),
        error,
      );
    }
  };

  return {
    send: (exchange, signal) => explained(exchange, signal, (limit) => begin(exchange, whole, limit)),
    async open(exchange, signal) {
      // The time limit is only for the head, so the body depends on a controller that outlives the limit.
      const stop = new AbortController();
      const onAbort = () => {
        stop.abort(signal.reason);
      };
      const letGo = () => {
        signal.removeEventListener("abort", onAbort);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        const response = await explained(exchange, signal, async (limit) => {
          const giveUp = () => {
            stop.abort(limit.reason);
          };
          limit.addEventListener("abort", giveUp, { once: true });
          try {
            return await begin(exchange, asStream, stop.signal);
          } finally {
            limit.removeEventListener("abort", giveUp);
          }
        });
        response.on("close", letGo);
        return response;
      } catch (error) {
        letGo();
        throw error;
      }
    },
    close() {
      agents.close();
    },
    retire() {
      agents.retire();
    },
  };
}

function headersOf({ headers, body }: Exchange): OutgoingHttpHeaders {
  const sent: OutgoingHttpHeaders = { "user-agent": "sluice" };
  for (const [name, value] of Object.entries(headers)) sent[name] = typeof value === "string" ? value : [...value];
  if (body !== undefined) sent["content-length"] = Buffer.byteLength(body);
  return sent;
}

/** Uses events, not `for await`: a run of four objects reads some twenty short answers, and the iterator costs more than they do. */
function readText(response: IncomingMessage, maxBytes: number, arriving: Held): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    arriving.bytes += chunk.length;
    if (bytes > maxBytes) response.destroy(new AnswerTooLong(`its answer is longer than ${maxBytes} bytes`));
    else if (arriving.bytes > arriving.max)
      response.destroy(new AnswerTooLong(`its answers of the same moment are longer than ${arriving.max} bytes`));
    else chunks.push(chunk);
  });
  let isWhole = false;
  response.on("end", () => {
    isWhole = true;
    const [first] = chunks;
    resolve((first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, bytes)).toString("utf8"));
  });
  response.on("error", reject);
  response.on("close", () => {
    arriving.bytes -= bytes;
    // An error takes longer to make than a short answer to read.
    if (!isWhole) reject(new Error("the connection was closed before the answer was complete"));
  });
  return promise;
}

/** A signal that is aborted with another one or after a time limit; cheaper than `AbortSignal.any` for thousands of requests. */
function timeLimit(limitMs: number, signal: AbortSignal): Disposable & { readonly signal: AbortSignal } {
  const limit = new AbortController();
  const onAbort = () => {
    limit.abort(signal.reason);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => {
    limit.abort(new Error("time is up"));
  }, limitMs);
  return {
    signal: limit.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
  };
}

function isReset(error: unknown): boolean {
  return isJsonObject(error) && (error["code"] === "ECONNRESET" || error["code"] === "EPIPE");
}

/** Whether a request failed because an established connection broke: the server may or may not have served it. */
export function isBroken(error: unknown): boolean {
  return error instanceof ApiError && isReset(error.cause instanceof StaleConnection ? error.cause.cause : error.cause);
}

function unreachable({ name, server, proxy }: ClusterConfig, reason: string, cause: unknown): ApiError {
  if (isRefused(cause)) {
    const message = `the cluster at ${server.origin} must not be connected to: ${reason}`;
    return new ApiError({ code: 0, reason: "NetworkRefused", message }, { cause });
  }
  const way = proxy === undefined ? "" : ` through the proxy ${proxy.origin}`;
  const message = `the cluster at ${server.origin} cannot be reached${way}: ${reason}; check the server of context ${name} and that it runs`;
  return new ApiError({ code: 0, reason: "Unreachable", message }, { cause });
}

/** Whether the network policy forbids the connection. */
function isRefused(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isRefused);
  return error instanceof DestinationRefused || (error instanceof DialError && error.reason === "refused");
}

const untrustedCodes = new Set([
  "CERT_SIGNATURE_FAILURE",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

function reasonOf(error: unknown, { tls }: ClusterConfig): string {
  const code = isJsonObject(error) ? error["code"] : undefined;
  if (typeof code === "string" && untrustedCodes.has(code)) {
    return tls.ca === undefined
      ? `its certificate is not trusted (${code}); set certificate-authority of the cluster in the kubeconfig`
      : `its certificate was not issued by the certificate-authority that we know (${code}): the cluster's CA has changed, or another server answers at its address; get the cluster's current certificate-authority`;
  }
  // If several addresses were tried and all failed, the message of the aggregate is empty.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return messageOf(first ?? error);
}
