import { STATUS_CODES } from "node:http";
import { messageOf } from "../core/failure.ts";
import { checkJson } from "../core/json-text.ts";
import type { Proxy } from "../core/ports/dial.ts";
import {
  type Http,
  HttpError,
  type HttpRequest,
  type HttpResponse,
  type TlsTrust,
  trustElsewhere,
} from "../core/ports/http.ts";
import { safeMessage } from "../core/safe-text.ts";

/** A request to the API of a git host. */
export interface HostRequest {
  readonly method: "GET" | "PATCH" | "POST" | "PUT";
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly tls?: TlsTrust | undefined;
  readonly proxy?: Proxy | undefined;
}

/** A page of a hundred comments of GitHub's longest has 6.5 MB, if they are in ASCII. */
export const maxAnswerBytes = 8 * 1024 * 1024;
const maxRedirects = 10;
/** The signal of the delivery ends it before. */
const timeoutMs = 900_000;
/** What another host than the one of the address may know. */
const harmlessHeaders = new Set(["accept", "content-type", "user-agent"]);

/**
 * The answer of the host, whatever its status. Redirects are followed if they keep the method. Without an answer it throws the text of
 * Go's client: `Get "https://…": dial tcp …`.
 */
export async function askHost(request: HostRequest, http: Http, signal: AbortSignal): Promise<HttpResponse> {
  let current = request;
  for (let redirects = 0; ; redirects++) {
    const answer = await send(current, http, signal);
    const next = nextRequest(answer, current);
    if (next === undefined) return answer;
    if (redirects >= maxRedirects) throw new Error(`${asked(current)}: stopped after ${maxRedirects} redirects`);
    current = next;
  }
}

async function send(request: HostRequest, http: Http, signal: AbortSignal): Promise<HttpResponse> {
  const sent = requestOf(request);
  try {
    return await http.send(sent, signal);
  } catch (error) {
    if (hasTimedOut(signal)) throw new Error(`${asked(request)}: context deadline exceeded`, { cause: error });
    signal.throwIfAborted();
    if (!(error instanceof HttpError)) throw error;
    const [, why = error.message] = /^[A-Z]+ \S+: (.*)$/s.exec(error.message) ?? [];
    throw new Error(`${asked(request)}: ${why}`, { cause: error });
  }
}

/** Throws what Go's client says of a request that it cannot send. */
function requestOf({ method, url, headers, body, tls, proxy }: HostRequest): HttpRequest {
  const refused = (why: string): Error => new Error(`${asked({ method, url })}: ${why}`);
  const [, scheme = ""] = /^([^:]*):/.exec(url) ?? [];
  if (scheme !== "http" && scheme !== "https") throw refused(`unsupported protocol scheme "${scheme}"`);
  if (!URL.canParse(url)) throw refused("http: no Host in request URL");
  const sent = Object.entries(headers).map(([name, value]): readonly [string, string] => {
    // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
    if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value)) {
      const shown = name.replaceAll(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());
      throw refused(`net/http: invalid header field value for "${shown}"`);
    }
    // In UTF-8, as Go sends them: Node takes each character for a byte.
    return [name, Buffer.from(value.trim()).toString("latin1")];
  });
  return {
    method,
    url,
    headers: { "user-agent": "sluice", ...Object.fromEntries(sent) },
    timeoutMs,
    maxBytes: maxAnswerBytes,
    tls,
    proxy,
    ...(body === undefined ? {} : { body: Buffer.from(body) }),
  };
}

/** The request that a redirect asks for. A redirect that would lose the body is an answer like any other, never a success. */
function nextRequest({ status, headers }: HttpResponse, request: HostRequest): HostRequest | undefined {
  const { location } = headers;
  const isFollowed = status === 307 || status === 308 || (request.method === "GET" && [301, 302, 303].includes(status));
  if (!isFollowed || location === undefined || !URL.canParse(location, request.url)) return undefined;
  const [next, from] = [new URL(location, request.url), new URL(request.url)];
  if (next.protocol !== "https:" && next.protocol !== from.protocol) return undefined;
  next.username = next.password = "";
  const to = { ...request, url: next.href };
  if (next.host === from.host && next.protocol === from.protocol) return to;
  const harmless = Object.entries(request.headers).filter(([name]) => harmlessHeaders.has(name));
  const { tls } = request;
  return { ...to, headers: Object.fromEntries(harmless), tls: tls === undefined ? undefined : trustElsewhere(tls) };
}

/** `Get "https://…"`. */
function asked({ method, url }: Pick<HostRequest, "method" | "url">): string {
  return `${method.slice(0, 1)}${method.slice(1).toLowerCase()} ${JSON.stringify(url)}`;
}

/** Whether the time of the delivery is over: a failure of its own. Whatever else aborts a signal is no failure of the host. */
export function hasTimedOut({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof Error && reason.name === "TimeoutError";
}

/** What clients say that leave out what they asked when the time of the delivery ended. */
export async function orDeadline<Result>(signal: AbortSignal, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (hasTimedOut(signal)) throw new Error("context deadline exceeded", { cause: error });
    throw error;
  }
}

/** Puts these words before the text of whatever `act` throws, as Go wraps errors. An aborted signal keeps its reason. */
export async function inWords<Result>(
  words: string,
  signal: AbortSignal,
  act: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!hasTimedOut(signal)) signal.throwIfAborted();
    throw new Error(`${words}: ${messageOf(error)}`, { cause: error });
  }
}

export function isSuccess({ status }: HttpResponse): boolean {
  return status >= 200 && status <= 299;
}

/** `404 Not Found`. */
export function statusText({ status }: HttpResponse): string {
  return `${status} ${STATUS_CODES[status] ?? ""}`.trimEnd();
}

/** The body, as it may be shown. */
export function shownBody({ body }: HttpResponse): string {
  return safeMessage(Buffer.from(body).toString());
}

/** Parses the body as JSON. Throws Go's error if it is not JSON. */
export function jsonBody({ body }: HttpResponse): unknown {
  const text = Buffer.from(body)
    .toString()
    .replace(/^\uFEFF/, "");
  try {
    checkJson(text);
  } catch (error) {
    throw new Error(`the answer is too large: ${messageOf(error)}`, { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    const [first] = text.trimStart();
    const why = first === undefined ? "unexpected end of JSON input" : faultOf(first);
    throw new Error(why, { cause: error });
  }
}

function faultOf(first: string): string {
  return /[[{"\d\-tfn]/.test(first)
    ? "the answer is not JSON"
    : `invalid character ${first === "'" ? String.raw`'\''` : `'${first}'`} looking for beginning of value`;
}
