import type { Dial, Proxy } from "./dial.ts";
import { PortError } from "./port-error.ts";

/** How to trust the server of one request. Without it the system's certificate authorities count. */
export interface TlsTrust {
  /** PEM of certificate authorities, in addition to the system's. */
  readonly ca?: string;
  /** Whether `ca` takes the place of the system's authorities. */
  readonly isCaAlone?: boolean;
  /** PEM of a client certificate and its key, sent if the server asks for one. */
  readonly cert?: string;
  readonly key?: string;
  /** Accepts any certificate. */
  readonly insecure?: boolean;
}

/** The same trust for another host, without our client certificate. */
export function trustElsewhere({ ca, isCaAlone, insecure }: TlsTrust): TlsTrust {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(isCaAlone === undefined ? {} : { isCaAlone }),
    ...(insecure === undefined ? {} : { insecure }),
  };
}

export interface HttpRequest {
  readonly method: "DELETE" | "GET" | "HEAD" | "PATCH" | "POST" | "PUT";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For the whole exchange, redirects included. */
  readonly timeoutMs: number;
  /** The longest body that is read. A longer one is an {@link HttpError} `too-large`. */
  readonly maxBytes: number;
  /**
   * Redirects are followed for GET and HEAD only, never from https to http; credentials (headers and client certificate) are sent
   * only to their host. Default 0.
   */
  readonly maxRedirects?: number;
  readonly tls?: TlsTrust | undefined;
  /** All connections of the exchange use it, including those after redirects. */
  readonly proxy?: Proxy | undefined;
  /** Whether a POST or PATCH changes nothing, so that it may be sent again if the server has closed a kept connection. */
  readonly isSafe?: boolean;
  /** The registry (`host:port`) whose challenge named this URL: the network policy decides which hosts may be its token service. */
  readonly tokenServiceOf?: string;
}

export interface HttpResponse {
  /** The URL that answered: the request's, or the last one after redirects. */
  readonly url: string;
  readonly status: number;
  /** Names in lower case; several values of one header joined by a comma and a space. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** HTTP as the core sees it, bounded in time and bytes. It returns an answer or an {@link HttpError}, never anything else. */
export interface Http {
  /** Any status is an answer. Throws an {@link HttpError} if there is no answer, or the reason `signal` was aborted with. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
}

/** An answer whose body has not been read yet. Dispose ends the connection if the body was not read to its end. */
export interface HttpStream extends Omit<HttpResponse, "body">, Disposable {
  /** Can be read once. Throws as `send` does, beyond the request's limits of bytes and time too. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Like {@link Http}, for a body that may be too large for memory. */
export interface HttpStreams {
  open(request: HttpRequest, signal: AbortSignal): Promise<HttpStream>;
}

/**
 * `unreachable`: no connection. `refused`: the network policy forbids it, and no connection was tried. `tls`: the certificate is
 * not trusted. `protocol`: the answer is not HTTP, or it broke off; or a header of the request has a character that HTTP does not allow.
 */
export type HttpErrorReason = "protocol" | "redirect" | "refused" | "timeout" | "tls" | "too-large" | "unreachable";

/** The text of an {@link HttpError} `redirect` for one redirect more than a request allows. */
export const tooManyRedirects = "too many redirects";

/** The exchange that failed. */
export interface FailedExchange {
  readonly method: string;
  /** The address that failed, after redirects, without its query and user. */
  readonly url: string;
  /** What went wrong, without the request. */
  readonly why: string;
  /** Whether the head of an answer had arrived. */
  readonly hasHead: boolean;
}

/** No answer. The message holds the method and the URL without its query, never a header. */
export class HttpError extends PortError<HttpErrorReason> {
  override readonly name = "HttpError";
  /** Undefined if the message is not about one exchange. */
  readonly exchange: FailedExchange | undefined;

  constructor(
    reason: HttpErrorReason,
    message: string,
    options: ErrorOptions & { readonly exchange?: FailedExchange | undefined } = {},
  ) {
    super(reason, message, options);
    this.exchange = options.exchange;
  }
}

/** All ways to hosts that objects name, by one network policy. */
export interface Outbound extends Http, HttpStreams {
  readonly dial: Dial;
}
