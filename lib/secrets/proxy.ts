import type { Proxy } from "../core/ports/dial.ts";
import { Secret } from "../core/secret.ts";
import type { SecretData } from "./trust.ts";

const maxProxyChars = 2_048;
const proxyProtocols = new Set(["http:", "https:", "socks5:"]);

/** The proxy in the data of a secret, in Flux's words. @param secret how the secret is named in a message */
export function proxyIn(data: SecretData, secret: string, failed: (why: string) => Error): Proxy {
  const address = data.get("address");
  if (address === undefined) throw failed(`${secret}: key 'address' not found`);
  if (address === "") throw failed(`${secret}: proxy address is empty`);
  if (address.length > maxProxyChars) {
    throw failed(`${secret}: proxy URL exceeds maximum length of ${maxProxyChars} characters`);
  }
  const proxy = proxyAt(address, (why) => failed(`${secret}: ${why}`));
  const username = data.get("username");
  return username === undefined
    ? proxy
    : { url: proxy.url, username, password: new Secret(data.get("password") ?? "") };
}

/** The proxy at this URL, with the login that it may hold. */
export function proxyAt(address: string, failed: (why: string) => Error): Proxy {
  // Not quoted, unlike in Flux: it may hold a password.
  if (!URL.canParse(address)) throw failed("failed to parse proxy address: it is not a URL");
  const url = new URL(address);
  if (!proxyProtocols.has(url.protocol)) {
    const got = url.protocol.slice(0, -1);
    throw failed(`proxy URL must use one of the supported schemes (http, https, socks5), got '${got}'`);
  }
  if (url.hostname === "") throw failed("failed to parse proxy address: it names no host");
  const [username, password] = [percentDecoded(url.username), percentDecoded(url.password)];
  url.username = "";
  url.password = "";
  return { url, username, password: new Secret(password) };
}

/** The text without percent encoding; the text itself where that is invalid. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
