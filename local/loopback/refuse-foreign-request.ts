import type { IncomingMessage } from "node:http";
import { matchesHost, parseHostPattern } from "../../lib/core/network/host-pattern.ts";

const loopbackNames = ["127.0.0.1", "localhost", "[::1]"];
const maxQuotedChars = 100;

/**
 * The reason to refuse a request that a web page may have caused in the user's browser: a request for a host name that is not
 * ours (DNS rebinding), or from a page of another origin. Undefined for the user's own tools. The port of the Host does not
 * count: a forwarded port differs, and a page cannot choose the name.
 *
 * @param names of this server besides those of loopback, `NAME` or `NAME:PORT`
 */
export function refuseForeignRequest(
  { host = "", origin }: IncomingMessage["headers"],
  names: readonly string[],
): string | undefined {
  const own = [...loopbackNames, ...names];
  const asked = hostAndPort(`http://${host}`);
  const isOurs = own
    .flatMap((name) => parseHostPattern(name) ?? [])
    .some((pattern) => asked !== undefined && matchesHost(pattern, asked.host, asked.port));
  const answersTo = `this server of sluice local answers to ${own.join(", ")}`;
  if (!isOurs) {
    return `${answersTo}, and not to the Host ${quoted(host)}: start sluice local with --host-name NAME for another name`;
  }
  if (origin === undefined) return undefined;
  const from = hostAndPort(origin);
  if (from !== undefined && from.host === asked?.host && from.port === asked.port) return undefined;
  return `${answersTo}, and not to pages of the Origin ${quoted(origin)}`;
}

function hostAndPort(url: string): { readonly host: string; readonly port: number } | undefined {
  if (!/^https?:\/\/[^/?#@\\\s]+$/.test(url) || !URL.canParse(url)) return undefined;
  const { hostname, port, protocol } = new URL(url);
  return { host: hostname, port: port === "" ? (protocol === "http:" ? 80 : 443) : Number(port) };
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, maxQuotedChars));
}
