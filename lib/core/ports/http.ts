import { PortError } from "./port-error.ts";

/** How to trust the server of one request; absent means the system's certificate authorities. */
export interface TlsTrust {
  /** PEM, added to the system's authorities. */
  readonly ca?: string;
  /** PEM of a client certificate and its key, sent where the server asks. */
  readonly cert?: string;
  readonly key?: string;
  /** Accepts any certificate. */
  readonly insecure?: boolean;
}

/** The same trust for a host that our client certificate is not for. */
export function trustElsewhere({ ca, insecure }: TlsTrust): TlsTrust {
  return { ...(ca === undefined ? {} : { ca }), ...(insecure === undefined ? {} : { insecure }) };
}

export interface HttpRequest {
  readonly method: "DELETE" | "GET" | "HEAD" | "PATCH" | "POST" | "PUT";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** For the whole exchange, redirects included. */
  readonly timeoutMs: number;
  /** The longest body that is read; a longer one is an {@link HttpError} `too-large`. */
  readonly maxBytes: number;
  /** Followed for GET and HEAD only, never from https to http; credentials (headers and client certificate) stay with their host. Default 0. */
  readonly maxRedirects?: number;
  readonly tls?: TlsTrust;
  /** The registry (`host:port`) whose challenge named this URL: the network policy judges who may be its token service. */
  readonly tokenServiceOf?: string;
}

export interface HttpResponse {
  /** Who answered: the request's URL, or the last one that redirects led to. */
  readonly url: string;
  readonly status: number;
  /** Names in lower case; several values of one header joined by a comma and a space. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** HTTP as the core sees it: bounded in time and bytes, and never anything but an answer or an {@link HttpError}. */
export interface Http {
  /** Any status is an answer. Throws an {@link HttpError} where none came, or the reason `signal` was aborted with. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
}

/**
 * `unreachable`: no connection. `refused`: none was tried, the network policy forbids it. `tls`: its certificate is not
 * trusted. `protocol`: what came is no answer, or it broke off.
 */
export type HttpErrorKind = "protocol" | "redirect" | "refused" | "timeout" | "tls" | "too-large" | "unreachable";

/** No answer. The message holds the method and the URL without its query, never a header. */
export class HttpError extends PortError<HttpErrorKind> {
  override readonly name = "HttpError";
}
