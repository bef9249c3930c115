import { STATUS_CODES } from "node:http";
import { parseDuration } from "../../core/duration.ts";
import { goRequestFault } from "../../core/go-request-fault.ts";
import { type Http, HttpError, type HttpResponse, tooManyRedirects } from "../../core/ports/http.ts";
import { percentDecoded } from "../../secrets/proxy.ts";
import type { HelmCredentials } from "./credentials.ts";

/** As Go's client. */
const maxRedirects = 10;
/** A function lives no longer, whatever `spec.timeout` says. */
const maxTimeoutMs = 900_000;
const defaultTimeout = "1m";

/** A file of a Helm repository. */
export interface HelmFile {
  readonly url: string;
  /** The HelmRepository: credentials are sent to its host, and to other hosts only with `passCredentials`. */
  readonly repository: { readonly url: string; readonly passCredentials?: boolean; readonly timeout?: string };
  readonly credentials: HelmCredentials;
  readonly maxBytes: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A missing answer of a Helm repository, in the words of Helm's client. */
export class HelmFetchError extends Error {
  override readonly name = "HelmFetchError";
  /** How long the server asks to be left alone. */
  readonly retryAfterMs: number | undefined;
  /** The server's answer; undefined if there is none. */
  readonly status: number | undefined;

  constructor(
    message: string,
    options: ErrorOptions & { readonly retryAfterMs?: number; readonly status?: number } = {},
  ) {
    super(message, options);
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/**
 * Gets a file as Helm does: with username and password for the repository's own scheme and host, with the trust of its Secrets.
 * Answers 200 or, where a header asks for it, 304. Throws a {@link HelmFetchError}, or the `HttpError` of a file that is too large.
 */
export async function getFile(file: HelmFile, http: Pick<Http, "send">, signal: AbortSignal): Promise<HttpResponse> {
  const { credentials, headers, maxBytes, repository } = file;
  const { href, login } = withoutLogin(file.url);
  const authorization = login ?? loginFor(href, repository, credentials);
  const response = await http
    .send(
      {
        method: "GET",
        url: href,
        headers: { ...headers, ...(authorization === undefined ? {} : { authorization }) },
        timeoutMs: Math.min(Math.ceil(parseDuration(repository.timeout ?? defaultTimeout)), maxTimeoutMs),
        maxBytes,
        maxRedirects,
        tls: credentials.tls,
      },
      signal,
    )
    .catch((error: unknown) => {
      if (!(error instanceof HttpError) || error.reason === "too-large") throw error;
      throw new HelmFetchError(inWordsOfGo(error), { cause: error });
    });
  const { status } = response;
  if (status === 200 || (status === 304 && headers !== undefined)) return response;
  const seconds = Number(response.headers["retry-after"] ?? Number.NaN);
  throw new HelmFetchError(
    `failed to fetch ${withoutQuery(href)} : ${`${status} ${STATUS_CODES[status] ?? ""}`.trim()}`,
    {
      status,
      ...(Number.isFinite(seconds) && seconds > 0 ? { retryAfterMs: Math.min(seconds * 1_000, maxTimeoutMs) } : {}),
    },
  );
}

/** As Go's client, which Flux uses, names a request without an answer. */
function inWordsOfGo({ exchange, message, reason }: HttpError): string {
  if (exchange === undefined || reason === "refused") return message;
  if (reason === "timeout") {
    // Go's client names the request only until the head of the answer has arrived.
    if (exchange.hasHead) return `${late} (Client.Timeout or context cancellation while reading body)`;
    return goRequestFault({ ...exchange, why: `${late} (Client.Timeout exceeded while awaiting headers)` });
  }
  if (reason === "redirect" && exchange.why === tooManyRedirects) {
    return goRequestFault({ ...exchange, why: `stopped after ${maxRedirects} redirects` });
  }
  return exchange.hasHead ? message : goRequestFault(exchange);
}

const late = "context deadline exceeded";

/** A query may contain a signature. */
function withoutQuery(href: string): string {
  return href.replace(/\?.*$/s, "?…");
}

/** Go's client takes username and password out of a URL, and they win. */
function withoutLogin(text: string): { readonly href: string; readonly login?: string } {
  const url = new URL(text);
  const { username, password } = url;
  url.hash = "";
  if (username === "" && password === "") return { href: url.href };
  url.username = "";
  url.password = "";
  return { href: url.href, login: basic(percentDecoded(username), percentDecoded(password)) };
}

function loginFor(
  href: string,
  { passCredentials = false, url }: HelmFile["repository"],
  { username = "", password }: HelmCredentials,
): string | undefined {
  const secret = password?.reveal() ?? "";
  if (username === "" || secret === "") return undefined;
  const [own, other] = [new URL(url), new URL(href)];
  const isOwn = own.protocol === other.protocol && own.host === other.host;
  return isOwn || passCredentials ? basic(username, secret) : undefined;
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}
