import type { Proxy } from "../../core/ports/dial.ts";
import { type Http, HttpError, type HttpRequest, type HttpResponse, type TlsTrust } from "../../core/ports/http.ts";
import { BucketFault } from "./object-store.ts";
import type { Phase } from "./phase.ts";

/** The limit for a page of a listing, which has 1,000 keys of 1,024 bytes each, escaped. */
export const maxPageBytes = 8 * 1024 * 1024;
/** The limit for any other answer that is not the content of an object: errors, credentials. */
export const maxAnswerBytes = 256 * 1024;

/** How a host is reached. */
export interface Way {
  readonly http: Http;
  readonly tls?: TlsTrust | undefined;
  readonly proxy?: Proxy | undefined;
}

export interface BucketRequest extends Pick<HttpRequest, "body" | "headers" | "isSafe" | "method" | "url"> {
  readonly maxBytes: number;
  /** The query as a message may show it; nothing of it by default, since it may hold a token. */
  readonly shownQuery?: string;
}

/** One request within a phase. Redirects are answers. Throws a {@link BucketFault} in the words of Go's client. */
export async function ask(
  { http, proxy, tls }: Way,
  { shownQuery = "", ...request }: BucketRequest,
  { leftMs, signal }: Phase,
): Promise<HttpResponse> {
  signal.throwIfAborted();
  const shown = `${request.method[0]}${request.method.slice(1).toLowerCase()} "${withoutQuery(request.url)}${shownQuery}"`;
  const timeoutMs = Math.ceil(leftMs());
  if (timeoutMs <= 0) throw new BucketFault("timeout", `${shown}: ${deadline}`);
  try {
    return await http.send({ ...request, timeoutMs, tls, proxy }, signal);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    // What an error of ours says begins with method and URL.
    const [, why = error.message] = /^[A-Z]+ \S+: (.*)$/s.exec(error.message) ?? [];
    switch (error.reason) {
      case "too-large":
        throw new BucketFault("too-large", why, { cause: error });
      case "timeout":
        throw new BucketFault("timeout", `${shown}: ${deadline}`, { cause: error });
      case "protocol":
      case "redirect":
      case "refused":
      case "tls":
      case "unreachable": {
        const isOfProxy = proxy !== undefined && why.startsWith("dial tcp ");
        throw new BucketFault("no-answer", `${shown}: ${isOfProxy ? `proxyconnect tcp: ${why}` : why}`, {
          cause: error,
        });
      }
    }
  }
}

const deadline = "context deadline exceeded";

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
