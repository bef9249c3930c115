import { STATUS_CODES } from "node:http";
import { posix } from "node:path";
import { cutText } from "../../../core/cut-text.ts";
import { messageOf } from "../../../core/failure.ts";
import { goHeaderFault, goHeaders } from "../../../core/go-headers.ts";
import { goUrlFault } from "../../../core/go-url-fault.ts";
import { checkJson } from "../../../core/json-text.ts";
import { HttpError, type HttpResponse } from "../../../core/ports/http.ts";
import { MetricFault, type ServerInput, type ServerParts } from "./metric-server.ts";

/** The longest answer of a server of metrics that is read. */
export const maxMetricAnswerBytes = 1_048_576;
/** The limit for a quoted answer. */
const maxQuotedBytes = 1_024;
const maxRedirects = 10;
const defaultTimeoutMs = 5_000;

export interface Question {
  readonly method?: "GET" | "POST";
  readonly url: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isInsecure?: boolean;
  /** By default 5 s, as in Flagger. */
  readonly timeoutMs?: number;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Asks a server of metrics. Any status is an answer. Throws a {@link MetricFault} in the words of Go's client if there is no answer. */
export async function ask(question: Question, { http, signal }: ServerParts): Promise<Answer> {
  const { method = "GET", body, isInsecure = false, timeoutMs = defaultTimeoutMs } = question;
  const [, scheme = ""] = /^([a-z][a-z\d+.-]*):/i.exec(question.url) ?? [];
  if (!/^https?$/i.test(scheme)) throw unanswered(question, `unsupported protocol scheme "${scheme}"`);
  if (!URL.canParse(question.url)) throw unanswered(question, "http: no Host in request URL");
  const { url, headers } = withoutUser(question);
  const headerFault = goHeaderFault(headers);
  if (headerFault !== undefined) throw unanswered(question, headerFault);
  let response: HttpResponse;
  try {
    response = await http.send(
      {
        ...{ method, url, headers: goHeaders(headers), timeoutMs, maxRedirects },
        maxBytes: maxMetricAnswerBytes,
        // A question changes nothing.
        isSafe: true,
        ...(body === undefined ? {} : { body: Buffer.from(body) }),
        ...(isInsecure ? { tls: { insecure: true } } : {}),
      },
      signal,
    );
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    if (error.reason === "too-large") throw new MetricFault(`error reading body: ${whyOf(error)}`, { cause: error });
    throw unanswered(question, whyOf(error), error);
  }
  return { status: response.status, text: Buffer.from(response.body).toString() };
}

function unanswered({ method = "GET", url }: Question, why: string, cause?: unknown): MetricFault {
  const shown = url.replace(/^([a-z][a-z\d+.-]*:\/\/[^/?#]*?):[^/?#]*@/i, "$1:***@");
  const said = `${method === "GET" ? "Get" : "Post"} ${JSON.stringify(shown)}: ${why}`;
  return new MetricFault(`request failed: ${said}`, { cause });
}

/** Without the request that stands before it. */
function whyOf({ message }: HttpError): string {
  return message.replace(/^[A-Z]+ \S+: /, "");
}

/** As Go's client does it: user and password of an address are a login, unless there is another one. */
function withoutUser({ url: text, headers = {} }: Question) {
  const url = new URL(text);
  const { username, password } = url;
  if (username === "" && password === "") return { url: text, headers };
  url.username = "";
  url.password = "";
  const login = basicLogin(unescaped(username), unescaped(password));
  const hasLogin = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  return { url: url.href, headers: hasLogin ? headers : { ...headers, authorization: login } };
}

/** The bytes of a user or password of a URL, which need not be UTF-8. Text that is not an escape stays as it is. */
function unescaped(text: string): Buffer {
  const bytes = text.replaceAll(/%([\da-f]{2})/gi, (_escape, hex: string) =>
    String.fromCodePoint(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, "latin1");
}

/** A login by user and password, each as text or as bytes. */
export function basicLogin(username: string | Buffer, password: string | Buffer): string {
  const parts = [username, ":", password].map((part) => Buffer.from(part));
  return `Basic ${Buffer.concat(parts).toString("base64")}`;
}

/** `503 Service Unavailable`, as Go writes a status. */
export function statusText({ status }: Answer): string {
  return `${status} ${STATUS_CODES[status] ?? ""}`;
}

/** The start of a body, as a message quotes it. */
export function quotedBody({ text }: Answer): string {
  return cutText(text, maxQuotedBytes);
}

/** The JSON of an answer. Throws a {@link MetricFault} for text that is not JSON, or that has too many values. */
export function jsonOf(answer: Answer): unknown {
  try {
    checkJson(answer.text);
    const value: unknown = JSON.parse(answer.text);
    return value;
  } catch (error) {
    throw unreadable(answer, messageOf(error), error);
  }
}

/** Flagger's text for an answer of an unexpected shape. */
export function unreadable(answer: Answer, why: string, cause?: unknown): MetricFault {
  return new MetricFault(`error unmarshaling result: ${why}, '${quotedBody(answer)}'`, { cause });
}

/** Whether Go's `url.Parse` takes an address. */
export function isGoUrl(address: string): boolean {
  if (address === "" || address.startsWith(":") || goUrlFault(address) !== undefined) return false;
  return /^[a-z][a-z\d+.-]*:/i.test(address) || !/^[^/?#]*:/.test(address);
}

/** The address of a provider. Throws Flagger's text if it is not one. */
export function addressOf({ provider: { address = "", type } }: Pick<ServerInput, "provider">): string {
  if (isGoUrl(address)) return address;
  throw new MetricFault(`${type} address ${address} is not a valid URL`);
}

/** A path below that of an address, in place of its query. */
export function below(address: string, path: string, query: string): string {
  const [start = ""] = /^(?:[a-z][a-z\d+.-]*:)?(?:\/\/[^/?#]*)?/i.exec(address) ?? [];
  const [base = ""] = /^[^?#]*/.exec(address.slice(start.length)) ?? [];
  const joined = posix.join("/", base, path);
  return `${start}${joined}?${query}`;
}

/** A text as Go's `url.QueryEscape` writes it. */
export function queryEscaped(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}

/** Parameters as Go's `url.Values.Encode` writes them: sorted by their names. */
export function encodedQuery(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${queryEscaped(name)}=${queryEscaped(value)}`)
    .join("&");
}
