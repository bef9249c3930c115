import type { IncomingMessage } from "node:http";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError } from "../core/ports/cluster.ts";
import { errorOf, retryAfterOf } from "./api-answer.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { credentials } from "./credentials.ts";
import { type Answer, type Exchange, isBroken, transport } from "./transport.ts";

/** What a request does, in the words of Kubernetes' audit log, with discovery and server-side apply apart. */
type Verb = "apply" | "create" | "delete" | "discovery" | "get" | "list" | "patch" | "watch";

/** One request that was sent, for counting. */
export interface SentRequest {
  readonly verb: Verb;
  readonly dryRun: boolean;
  readonly path: string;
  /** 0 where no answer came. */
  readonly status: number;
}

export interface ApiDeps {
  readonly clock: Clock;
  /** What credential plugins inherit. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told of every request that was sent, repeated ones too. */
  readonly observe?: (request: SentRequest) => void;
  /** Time limit of one call, its repetitions included: 10 s by default, 15 s at most, which is a lease's safety margin. */
  readonly limitMs?: number;
}

export interface ApiRequest {
  readonly verb: Verb;
  readonly method: Exchange["method"];
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly accept?: string;
  readonly body?: { readonly type: string; readonly json: unknown };
  readonly repeatable: boolean;
  /** Called right before each sending, with nothing awaited in between; what it throws is thrown and nothing is sent. */
  readonly beforeSend?: (() => void) | undefined;
}

export interface ApiClient {
  /**
   * The answer, whatever its status, after the repetitions that the server asks for. Of a 401, which is no answer to the
   * question, an {@link ApiError} `Unauthorized`, after one try with a new credential.
   */
  send(request: ApiRequest, signal: AbortSignal): Promise<Answer>;
  /** As `send`, but any other status than 2xx is thrown as an {@link ApiError}. */
  expect(request: ApiRequest, signal: AbortSignal): Promise<Answer>;
  /** A stream whose head says 2xx, on a connection of its own. */
  open(request: ApiRequest, signal: AbortSignal): Promise<IncomingMessage>;
  close(): void;
}

const defaultLimitMs = 10_000;
export const maxLimitMs = 15_000;
export const maxAnswerBytes = 64 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;
const maxRepetitions = 8;
/** Before a request is sent again whose connection broke; doubled each time. */
const firstPauseMs = 25;

/** Requests to one API server: who we are, how long it may take, and what is tried again. */
export function apiClient(config: ClusterConfig, deps: ApiDeps): ApiClient {
  const { clock, observe } = deps;
  const limitMs = Math.min(deps.limitMs ?? defaultLimitMs, maxLimitMs);
  const wire = transport(config);
  const identity = credentials(config.user, deps.env, clock);

  const exchangeOf = async (request: ApiRequest, endsAt: number, signal: AbortSignal): Promise<Exchange> => {
    const { headers, certificate } = await identity.current(signal);
    // Counted after the credentials, whose plug-in may have been slow: a write that is sent later than its caller's lease
    // allows for could follow a successor's.
    const remainingMs = Math.ceil(endsAt - clock.monotonic());
    if (remainingMs <= 0)
      throw new ApiError({ code: 0, reason: "Unreachable", message: "no time was left for the request" });
    const { body, accept = "application/json" } = request;
    return {
      method: request.method,
      path: pathOf(request),
      headers: { ...headers, accept, ...(body === undefined ? {} : { "content-type": body.type }) },
      certificate,
      body: body === undefined ? undefined : JSON.stringify(body.json),
      limitMs: remainingMs,
      maxBytes: maxAnswerBytes,
      repeatable: request.repeatable,
    };
  };

  const observed = async <T>(
    request: ApiRequest,
    statusOf: (result: T) => number,
    work: () => Promise<T>,
  ): Promise<T> => {
    let status = 0;
    try {
      const result = await work();
      status = statusOf(result);
      return result;
    } finally {
      observe?.({ verb: request.verb, dryRun: request.query?.["dryRun"] === "All", path: request.path, status });
    }
  };

  const send = async (request: ApiRequest, signal: AbortSignal): Promise<Answer> => {
    const endsAt = clock.monotonic() + limitMs;
    let renewed = false;
    for (let repetitions = 0; ; repetitions++) {
      const exchange = await exchangeOf(request, endsAt, signal);
      const mayRepeatIn = (waitMs: number): boolean =>
        repetitions < maxRepetitions && clock.monotonic() + waitMs < endsAt;
      request.beforeSend?.();
      let answer: Answer;
      try {
        answer = await observed(
          request,
          ({ status }) => status,
          () => wire.send(exchange, signal),
        );
      } catch (error) {
        const pauseMs = firstPauseMs * 2 ** repetitions;
        if (!request.repeatable || !isBroken(error) || !mayRepeatIn(pauseMs)) throw error;
        await clock.sleep(pauseMs, signal);
        continue;
      }
      if (answer.status === 401 && !renewed && identity.renew()) {
        renewed = true;
        continue;
      }
      if (answer.status === 401) throw unauthorized(config, answer, renewed);
      const waitMs = waitBefore(answer, request.repeatable);
      if (waitMs === undefined || !mayRepeatIn(waitMs)) return answer;
      await clock.sleep(waitMs, signal);
    }
  };

  return {
    send,
    async expect(request, signal) {
      const answer = await send(request, signal);
      if (answer.status < 200 || answer.status > 299) throw errorOf(answer);
      return answer;
    },
    async open(request, signal) {
      const endsAt = clock.monotonic() + limitMs;
      const exchange = await exchangeOf(request, endsAt, signal);
      const response = await observed(
        request,
        ({ statusCode = 0 }) => statusCode,
        () => wire.open(exchange, signal),
      );
      const status = response.statusCode ?? 0;
      if (status >= 200 && status <= 299) return response;
      const { headers, rawHeaders } = response;
      const answer = { status, headers, rawHeaders, text: await headOf(response, endsAt - clock.monotonic()) };
      if (status !== 401) throw errorOf(answer);
      // Whoever watches asks again, with another credential where there is one.
      identity.renew();
      throw unauthorized(config, answer, false);
    },
    close() {
      wire.close();
    },
  };
}

/** The server's own word for it is no more than "Unauthorized". */
function unauthorized({ name, server, user }: ClusterConfig, answer: Answer, renewed: boolean): ApiError {
  const who = user.name === "" ? "us" : user.name;
  const also = renewed ? ", nor a new one" : "";
  const message = `the cluster at ${server.origin} (${name}) does not take the credential of ${who}${also}: ${errorOf(answer).message}; check that it may enter there and that the clocks agree`;
  return new ApiError({ code: 401, reason: "Unauthorized", message });
}

/** How long to wait before the same request is sent again; undefined where its answer is final. */
function waitBefore(answer: Answer, repeatable: boolean): number | undefined {
  // The server has not begun with a request that it answers with 429.
  if (answer.status === 429) return retryAfterOf(answer) ?? 1_000;
  return answer.status >= 500 && repeatable ? retryAfterOf(answer) : undefined;
}

function pathOf({ path, query = {} }: ApiRequest): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

/** The beginning of an answer, as far as it comes in the time that is left. */
async function headOf(response: IncomingMessage, limitMs: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort();
    response.destroy();
  }, limitMs);
  try {
    for await (const chunk of response) {
      if (!Buffer.isBuffer(chunk)) break;
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxErrorBytes) break;
    }
  } catch (error) {
    // The status says enough where the text does not come.
    if (!late.signal.aborted) {
      const message = "the cluster's answer broke off";
      throw new ApiError({ code: 0, reason: "Unreachable", message }, { cause: error });
    }
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString("utf8");
}
