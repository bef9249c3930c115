import type { IncomingHttpHeaders } from "node:http";

/**
 * Says why a request is refused that a web page may have made the user's browser send: one under a name that leads here and is
 * not one of loopback (DNS rebinding), or one with an Origin. Clients of Kubernetes send none.
 */
export function refuseWebPage({ host = "", origin }: IncomingHttpHeaders): string | undefined {
  const { hostname } = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : { hostname: "" };
  if (!["127.0.0.1", "localhost", "[::1]"].includes(hostname)) {
    return `this server answers to 127.0.0.1, localhost and [::1], and not to the Host ${quoted(host)}`;
  }
  return origin === undefined ? undefined : `this server answers to no web page: the Origin is ${quoted(origin)}`;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
