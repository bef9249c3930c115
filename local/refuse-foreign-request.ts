import type { IncomingMessage } from "node:http";
import { matchesHost, parseHostPattern } from "../lib/core/network/host-pattern.ts";

const loopbackNames = ["127.0.0.1", "localhost", "[::1]"];
const maxQuotedChars = 100;

/**
 * Says why a request is refused that a web page may have made the user's browser send: one under a name that leads here and
 * is not ours (DNS rebinding), or one from a page of another place. Undefined for the user's own tools. The port of a Host is
 * not judged: behind a forwarded port it is another, and a page cannot choose the name.
 *
 * @param names that this server has beside those of loopback, `NAME` or `NAME:PORT`
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
