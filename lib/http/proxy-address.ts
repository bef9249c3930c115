import type { Proxy } from "../core/ports/dial.ts";

/** The port at which a proxy listens. */
export function proxyPort({ url }: Proxy): number {
  if (url.port !== "") return Number(url.port);
  return { "http:": 80, "https:": 443 }[url.protocol] ?? 1080;
}

/** The header that logs in to an HTTP proxy; undefined for one without username. */
export function proxyAuthorization({ username = "", password }: Proxy): string | undefined {
  if (username === "") return undefined;
  return `Basic ${Buffer.from(`${username}:${password?.reveal() ?? ""}`).toString("base64")}`;
}

/** Whether the proxy takes the request itself, with the whole URL in it, and no tunnel: plain http through a proxy of HTTP. */
export function isForwarded({ protocol }: URL, proxy: Proxy | undefined): proxy is Proxy {
  return protocol === "http:" && proxy !== undefined && proxy.url.protocol !== "socks5:";
}

/** The header with which a proxy takes a request for others. */
export function forwardedHeaders(proxy: Proxy): Readonly<Record<string, string>> {
  const login = proxyAuthorization(proxy);
  return login === undefined ? {} : { "proxy-authorization": login };
}
