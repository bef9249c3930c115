import type { Target } from "./guarded-lookup.ts";

/** The URL of a request, in the parts that Node and the network policy take. */
export interface RequestUrl {
  readonly url: URL;
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** With the query. */
  readonly path: string;
  /** `user:password`; undefined for a URL without them. */
  readonly auth: string | undefined;
  /** As the policy judges it, without the registry that named it. */
  readonly target: Target;
}

/** Requests go to the same few URLs again and again: the webhook of a Provider, a query of a metric. */
const known = new Map<string, RequestUrl>();
const maxKnown = 64;
const maxKnownChars = 1_000;

/** Throws a `TypeError` for a text that is no URL, and a `URIError` for a login that cannot be decoded. */
export function requestUrl(text: string): RequestUrl {
  const same = known.get(text);
  if (same !== undefined) return same;
  const parsed = partsOf(new URL(text));
  if (text.length > maxKnownChars) return parsed;
  if (known.size >= maxKnown) known.clear();
  known.set(text, parsed);
  return parsed;
}

function partsOf(url: URL): RequestUrl {
  const { hostname, password, pathname, protocol, search, username } = url;
  const hasLogin = username !== "" || password !== "";
  const port = url.port === "" ? (protocol === "http:" ? 80 : 443) : Number(url.port);
  return {
    url,
    host: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    port,
    path: `${pathname}${search}`,
    auth: hasLogin ? `${decodeURIComponent(username)}:${decodeURIComponent(password)}` : undefined,
    target: { host: hostname, port },
  };
}
