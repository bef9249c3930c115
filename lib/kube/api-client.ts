import type { IncomingMessage } from "node:http";
import { formatJson } from "../core/json.ts";
import type { NetworkPolicy } from "../core/network/network-policy.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError } from "../core/ports/cluster.ts";
import { type AnswerBudget, type AnswerLimits, answerBudget } from "./answer-limits.ts";
import { errorOf, retryAfterOf } from "./api-answer.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { type Credentials, credentials } from "./credentials.ts";
import { type Answer, type Exchange, isBroken, type Transport, transport } from "./transport.ts";

/** The verb of a request, as in Kubernetes' audit log, or `discovery` or `apply` (server-side). */
type Verb = "apply" | "create" | "delete" | "discovery" | "get" | "list" | "patch" | "update" | "watch";

/** One request that was sent, for counting. */
export interface SentRequest {
  readonly verb: Verb;
  readonly dryRun: boolean;
  readonly path: string;
  /** 0 if there was no answer. */
  readonly status: number;
}

export interface ApiDeps {
  readonly clock: Clock;
  /** What credential plugins inherit. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called for every request that was sent, repeated ones included. */
  readonly observe?: (request: SentRequest) => void;
  /** Time limit of one call with its repetitions: 10 s by default, at most 15 s, which is the safety margin of a lease. */
  readonly limitMs?: number;
  /** How much of its answers is held. Absent for the installation's own clusters. */
  readonly limits?: AnswerLimits;
  /** Judges where a server that a user names is. Absent for the installation's own clusters. */
  readonly network?: NetworkPolicy;
}

export interface ApiRequest {
  readonly verb: Verb;
  readonly method: Exchange["method"];
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly accept?: string;
  readonly body?: { readonly type: string; readonly json: unknown };
  readonly repeatable: boolean;
  /** Called right before each sending, with no await in between. If it throws, nothing is sent and the call throws the same. */
  readonly beforeSend?: (() => void) | undefined;
}

/** A request that the API server passes on to something behind it. */
export interface ForwardedRequest extends Pick<Exchange, "body" | "limitMs" | "method" | "path"> {
  readonly verb: Verb;
  /** The part of the path that is the API server's own. The rest may hold a secret, so no log has it. */
  readonly below: string;
  /** In addition to those of the credential, which take precedence. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface ApiClient {
  readonly budget: AnswerBudget;
  /**
   * The answer of any status but 401, after the repetitions that the server asks for. A 401 throws an {@link ApiError}
   * `Unauthorized`, after one more attempt with a new credential.
   */
  send(request: ApiRequest, signal: AbortSignal): Promise<Answer>;
  /** As `send`, but throws an {@link ApiError} for every status other than 2xx. */
  expect(request: ApiRequest, signal: AbortSignal): Promise<Answer>;
  /** A stream with status 2xx, on a connection of its own. */
  open(request: ApiRequest, signal: AbortSignal): Promise<IncomingMessage>;
  /** The answer of any status, on a connection of its own. It is sent once. */
  forward(request: ForwardedRequest, signal: AbortSignal): Promise<IncomingMessage>;
  /** Drops a credential that the server has refused. False if the next one would be the same. */
  renew(): boolean;
  /** Sends as this user from now on, on the same connections and by the same credential, which has to have the right to impersonate it. */
  as(user: string): ApiClient;
  close(): void;
  /** Closes the kept connections once they are idle; requests go on to work. */
  retire(): void;
}

const defaultLimitMs = 10_000;
export const maxLimitMs = 15_000;
const maxErrorBytes = 64 * 1024;
const maxRepetitions = 8;
/** The pause before a request whose connection broke is repeated; it doubles each time. */
const firstPauseMs = 25;

/** Requests to one API server, with credentials, time limits and repetitions. */
export function apiClient(config: ClusterConfig, deps: ApiDeps): ApiClient {
  const budget = answerBudget(deps.limits);
  const wire = transport(config, budget, deps.network);
  const shared = { wire, budget, identity: credentials(config.user, deps.env, deps.clock) };
  return clientOf(undefined, config, deps, shared);
}

/** @param impersonated in place of the user that the configuration may impersonate: the API server takes one alone */
function clientOf(
  impersonated: string | undefined,
  config: ClusterConfig,
  deps: ApiDeps,
  shared: { readonly wire: Transport; readonly budget: AnswerBudget; readonly identity: Credentials },
): ApiClient {
  const { clock, observe } = deps;
  const { wire, identity } = shared;
  const limitMs = Math.min(deps.limitMs ?? defaultLimitMs, maxLimitMs);

  const exchangeOf = async (request: ApiRequest, endsAt: number, signal: AbortSignal): Promise<Exchange> => {
    const { headers, certificate } = await identity.current(signal, impersonated);
    // Computed after the credentials, whose plugin may be slow: a write that is sent too late could overwrite one of the
    // lease's next holder.
    const remainingMs = Math.ceil(endsAt - clock.monotonic());
    if (remainingMs <= 0)
      throw new ApiError({ code: 0, reason: "Unreachable", message: "no time was left for the request" });
    const { body, accept = "application/json" } = request;
    return {
      method: request.method,
      path: pathOf(request),
      headers: { ...headers, accept, ...(body === undefined ? {} : { "content-type": body.type }) },
      certificate,
      body: body === undefined ? undefined : formatJson(body.json),
      limitMs: remainingMs,
      repeatable: request.repeatable,
    };
  };

  const observed = async <T>(
    request: Pick<ApiRequest, "path" | "query" | "verb">,
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
    budget: shared.budget,
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
      // The caller opens the watch again, then with a new credential if there is one.
      identity.renew();
      throw unauthorized(config, answer, false);
    },
    async forward({ verb, below, headers, ...request }, signal) {
      const own = await identity.current(signal, impersonated);
      const { certificate } = own;
      const exchange = { ...request, headers: { ...headers, ...own.headers }, certificate, repeatable: false };
      return observed(
        { verb, path: below },
        ({ statusCode = 0 }) => statusCode,
        () => wire.open(exchange, signal),
      );
    },
    renew: () => identity.renew(),
    as: (user) => clientOf(user, config, deps, shared),
    close() {
      wire.close();
      identity.close();
    },
    retire() {
      wire.retire();
    },
  };
}

/** The server's own message is only "Unauthorized". */
function unauthorized({ name, server, user }: ClusterConfig, answer: Answer, renewed: boolean): ApiError {
  const who = user.name === "" ? "us" : user.name;
  const also = renewed ? ", nor a new one" : "";
  const message = `the cluster at ${server.origin} (${name}) does not take the credential of ${who}${also}: ${errorOf(answer).message}; check that it may enter there and that the clocks agree`;
  return new ApiError({ code: 401, reason: "Unauthorized", message });
}

/** How long to wait before the same request is sent again; undefined if the answer is final. */
function waitBefore(answer: Answer, repeatable: boolean): number | undefined {
  // A server that answers 429 has not started to process the request.
  if (answer.status === 429) return retryAfterOf(answer) ?? 1_000;
  return answer.status >= 500 && repeatable ? retryAfterOf(answer) : undefined;
}

function pathOf({ path, query = {} }: ApiRequest): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

/** The beginning of an answer: what arrives within the time limit. */
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
    // If the text is too slow, the status is enough.
    if (!late.signal.aborted) {
      const message = "the cluster's answer broke off";
      throw new ApiError({ code: 0, reason: "Unreachable", message }, { cause: error });
    }
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString("utf8");
}
