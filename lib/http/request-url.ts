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

/** Throws a `URIError` for a login that cannot be decoded. */
export function requestUrl(url: URL): RequestUrl {
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
