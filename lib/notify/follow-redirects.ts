import { HttpError, type HttpRequest, type HttpResponse, trustElsewhere } from "../core/ports/http.ts";

/** A request with a message, or the one without it that a redirect has made of it. */
export type Sent = Omit<HttpRequest, "headers" | "method"> & {
  readonly method: "GET" | "POST" | "PUT";
  readonly headers: Readonly<Record<string, string>>;
};

interface Rules {
  /** Whether 301, 302 and 303 are followed by a GET without the message, as Go does. Without it their answer counts. */
  readonly followsByGet: boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const maxRedirects = 10;

/** Sends the request, and sends it again where a redirect says, ten times at most and within the timeout of the request. */
export async function followRedirects(
  request: Sent,
  send: (request: Sent) => Promise<HttpResponse>,
  { followsByGet, now }: Rules,
): Promise<HttpResponse> {
  const until = now() + request.timeoutMs;
  let current = request;
  for (let redirects = 0; ; redirects++) {
    const answer = await send(current);
    const { location } = answer.headers;
    const isRepeated = answer.status === 307 || answer.status === 308;
    const isByGet = followsByGet && [301, 302, 303].includes(answer.status);
    if ((!isRepeated && !isByGet) || location === undefined) return answer;
    if (redirects >= maxRedirects) throw new HttpError("redirect", `stopped after ${maxRedirects} redirects`);
    const next = { ...current, timeoutMs: Math.max(1, until - now()) };
    current = redirected(isByGet ? withoutMessage(next) : next, location);
  }
}

function redirected(request: Sent, location: string): Sent {
  if (!URL.canParse(location, request.url)) throw new HttpError("redirect", "failed to parse Location header");
  const [next, from] = [new URL(location, request.url), new URL(request.url)];
  if (next.protocol !== "https:" && next.protocol !== from.protocol) {
    throw new HttpError("redirect", "redirected to an address that is not followed");
  }
  return { ...(next.host === from.host ? request : withoutCredentials(request)), url: next.href };
}

function withoutMessage({ body: _body, headers, ...request }: Sent): Sent {
  const kept = Object.entries(headers).filter(([name]) => name !== "content-type");
  // The client follows a GET itself, unless it goes through an API server.
  return { ...request, method: "GET", headers: Object.fromEntries(kept), maxRedirects };
}

/** What another host may know. The headers of a Secret and of a type are not among them: many hold a credential. */
const harmlessHeaders = new Set(["content-type", "gotk-component", "user-agent", "x-signature"]);

function withoutCredentials(request: Sent): Sent {
  const headers = Object.entries(request.headers).filter(([name]) => harmlessHeaders.has(name));
  const { tls } = request;
  return { ...request, headers: Object.fromEntries(headers), tls: tls === undefined ? undefined : trustElsewhere(tls) };
}
