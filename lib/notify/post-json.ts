import { messageOf } from "../core/failure.ts";
import { goHeaderFault, goHeaders } from "../core/go-headers.ts";
import type { Proxy } from "../core/ports/dial.ts";
import { HttpError, type HttpResponse, type TlsTrust } from "../core/ports/http.ts";
import { safeMessage } from "../core/safe-text.ts";
import { followRedirects, type Sent } from "./follow-redirects.ts";
import { goClientWords, quotedRequest, shownUrl, throwIfCutOff } from "./go-client-words.ts";
import type { ProviderParts } from "./provider.ts";

/** A message for one address. */
export interface Message {
  /** `POST` by default. */
  readonly method?: "POST" | "PUT";
  readonly url: string;
  /** Names in any case; of two with the same name the later one counts. `content-type` is JSON by default. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly proxy?: Proxy | undefined;
  readonly tls?: TlsTrust | undefined;
  /** Throws an error for an answer that reports a fault. By default {@link assertAccepted}. */
  readonly check?: (answer: HttpResponse) => void;
}

/** The parts that sending needs. */
export type SendingParts = Pick<ProviderParts, "http" | "now" | "sleep">;

/** How often and how long a client of Go's `retryablehttp` tries. */
export interface SendingRules {
  readonly maxAttempts: number;
  /** Before the second attempt; it doubles with each further one, up to 30 s. */
  readonly minWaitMs: number;
  /** For one attempt, with its redirects. */
  readonly timeoutMs: number;
  /** Whether 301, 302 and 303 are followed by a GET without the message, as Go does. Without it their answer counts. */
  readonly followsByGet?: boolean;
  /** Whether only Go's own words tell why there is no answer: none of a status, and its client's of a timeout. */
  readonly saysAsGo?: boolean;
}

/** The rules of Flux's notifications. The signal of the delivery ends an attempt before its timeout. */
const fluxRules: SendingRules = { maxAttempts: 5, minWaitMs: 2_000, timeoutMs: 900_000 };

const maxAnswerBytes = 1_048_576;
const maxWaitMs = 30_000;

/**
 * Sends a message as most types do (`H` in the reference): any 2xx is success; a connection that failed, 429 and 5xx but 501 are
 * tried again after 2, 4, 8 and 16 seconds, or when `Retry-After` says. Throws Flux's text otherwise.
 */
export async function postMessage(message: Message, parts: SendingParts, signal: AbortSignal): Promise<void> {
  const answer = await inWords("failed to execute request", signal, () => sendMessage(message, parts, signal));
  try {
    (message.check ?? assertAccepted)(answer);
  } catch (error) {
    throw inOtherWords("request failed", error, signal);
  }
}

/** {@link postMessage}, with the text that most types put before a failure. */
export function postAsMessage(message: Message, parts: SendingParts, signal: AbortSignal): Promise<void> {
  return inWords("postMessage failed", signal, () => postMessage(message, parts, signal));
}

/** Puts these words before the text of whatever `act` throws, as Go wraps errors, unless it is the reason of the signal. */
export async function inWords<Result>(
  words: string,
  signal: AbortSignal,
  act: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    throw inOtherWords(words, error, signal);
  }
}

function inOtherWords(words: string, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted && error === signal.reason) return error;
  return new Error(`${words}: ${messageOf(error)}`, { cause: error });
}

/** Throws unless the status is any 2xx. */
export function assertAccepted({ status, headers, body }: HttpResponse): void {
  if (status >= 200 && status < 300) return;
  const isLost = [301, 302, 303].includes(status) && headers["location"] !== undefined;
  const why = isLost ? "a redirect that would lose the message is not followed" : textOf(body);
  throw new Error(`request failed with status code ${status}: ${why}`);
}

/** The body of an answer as it may be shown. */
export function textOf(body: Uint8Array): string {
  return safeMessage(Buffer.from(body).toString());
}

/**
 * The answer to the last attempt; redirects by 307 and 308 are followed. Throws the text of Go's client if there is none, or if
 * the last attempt would be made again too.
 */
export async function sendMessage(
  message: Message,
  parts: SendingParts,
  signal: AbortSignal,
  rules = fluxRules,
): Promise<HttpResponse> {
  const request = requestOf(message, rules);
  for (let attempt = 1; ; attempt++) {
    const givenUp = (): string => `${request.method} ${shownUrl(request.url)} giving up after ${attempt} attempt(s)`;
    const outcome = await attemptOf(request, { parts, rules, wordsIfEnded: givenUp }, signal);
    const isFault = outcome instanceof HttpError;
    const isFinal = isFault ? !isTriedAgain(outcome) : !isBusy(outcome);
    if (isFinal && !isFault) return outcome;
    if (isFault && rules.saysAsGo === true) throwIfCutOff(outcome);
    if (isFinal || attempt >= rules.maxAttempts) {
      throw new Error(
        `${givenUp()}${isFault ? `: ${goWords(outcome, request, rules)}` : statusWords(outcome, rules)}`,
        {
          cause: outcome,
        },
      );
    }
    try {
      await parts.sleep(waitMs(attempt, isFault ? undefined : outcome, rules, parts.now()), signal);
    } catch (error) {
      throwIfEnded(signal);
      throw error;
    }
  }
}

/** {@link sendMessage} with one attempt, whose answer counts whatever its status. */
export async function sendOnce(
  message: Message,
  parts: SendingParts,
  signal: AbortSignal,
  rules = fluxRules,
): Promise<HttpResponse> {
  const request = requestOf(message, rules);
  const outcome = await attemptOf(request, { parts, rules, wordsIfEnded: () => quotedRequest(request) }, signal);
  if (outcome instanceof HttpError) throw new Error(goWords(outcome, request, rules), { cause: outcome });
  return outcome;
}

interface Attempt {
  readonly parts: SendingParts;
  readonly rules: SendingRules;
  readonly wordsIfEnded: () => string;
}

async function attemptOf(
  request: Sent,
  { parts, rules: { followsByGet = false }, wordsIfEnded }: Attempt,
  signal: AbortSignal,
): Promise<HttpError | HttpResponse> {
  try {
    assertSendable(request);
    const send = (each: Sent): Promise<HttpResponse> => parts.http.send(each, signal);
    return await followRedirects(request, send, { followsByGet, now: parts.now });
  } catch (error) {
    if (signal.aborted) throwIfEnded(signal, `${wordsIfEnded()}: `);
    if (!(error instanceof HttpError)) throw error;
    return error;
  }
}

/** If the delivery has ended: its own timeout is a failure in Go's words, and whatever else aborted the signal is thrown as it is. */
export function throwIfEnded(signal: AbortSignal, words = ""): void {
  if (!signal.aborted) return;
  const reason: unknown = signal.reason;
  if (reason instanceof Error && reason.name === "TimeoutError") {
    throw new Error(`${words}context deadline exceeded`, { cause: reason });
  }
  signal.throwIfAborted();
}

function requestOf(
  { method = "POST", url, headers = {}, body, proxy, tls }: Message,
  { timeoutMs }: SendingRules,
): Sent {
  return {
    method,
    url,
    headers: goHeaders({ "content-type": "application/json", "user-agent": "sluice", ...lowerCased(headers) }),
    body,
    timeoutMs,
    maxBytes: maxAnswerBytes,
    proxy,
    tls,
  };
}

function lowerCased(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (Object.keys(headers).every((name) => name === name.toLowerCase())) return headers;
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Throws what Go's client says of a request that cannot be sent. */
function assertSendable({ url, headers }: Sent): void {
  if (!/^https?:/i.test(url)) {
    const [, scheme = ""] = /^([a-z][a-z\d+.-]*):/i.exec(url) ?? [];
    throw new HttpError("refused", `unsupported protocol scheme "${scheme}"`);
  }
  if (!URL.canParse(url)) throw new HttpError("refused", "http: no Host in request URL");
  const fault = goHeaderFault(headers);
  if (fault !== undefined) throw new HttpError("refused", fault);
}

/** A connection that failed. A certificate, the network policy and a redirect say the same the next time. */
function isTriedAgain({ reason }: HttpError): boolean {
  return ["protocol", "timeout", "unreachable"].includes(reason);
}

function isBusy({ status }: HttpResponse): boolean {
  return status === 429 || (status >= 500 && status !== 501);
}

/** Flux says no reason for an answer, and so the same of a server that fails and of one that does not answer in time. */
function statusWords({ status }: HttpResponse, { saysAsGo = false }: SendingRules): string {
  return saysAsGo ? "" : `: the last answer has status ${status}`;
}

/** `Post "https://example.com/hook": dial tcp …`, as Go's client says it. */
function goWords(error: HttpError, request: Sent, { saysAsGo = false }: SendingRules): string {
  const { origin, pathname } = URL.canParse(request.url) ? new URL(request.url) : { origin: "", pathname: "" };
  if (saysAsGo) return goClientWords(error, request, `${origin}${pathname}`);
  const start = `${request.method} ${origin}${pathname}: `;
  return `${quotedRequest(request)}: ${error.message.startsWith(start) ? error.message.slice(start.length) : error.message}`;
}

/** How long to wait after so many attempts. */
function waitMs(attempts: number, answer: HttpResponse | undefined, { minWaitMs }: SendingRules, now: number): number {
  const asks = answer !== undefined && (answer.status === 429 || answer.status === 503);
  const asked = asks ? askedWaitMs(answer.headers["retry-after"], now) : undefined;
  return asked ?? Math.min(minWaitMs * 2 ** (attempts - 1), maxWaitMs);
}

function askedWaitMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
