interface FailedRequest {
  readonly method: string;
  readonly url: string;
  readonly why: string;
}

/** A request that got no answer, as Go's client says it: `Get "https://host/x": EOF`. */
export function goRequestFault({ method, url, why }: FailedRequest): string {
  const name = `${method.slice(0, 1)}${method.slice(1).toLowerCase()}`;
  return `${name} ${JSON.stringify(url)}: ${closed.has(why) ? "EOF" : why}`;
}

/** Node's words for a connection that the server closes before it answers. */
const closed = new Set([
  "socket hang up",
  "Client network socket disconnected before secure TLS connection was established",
]);
