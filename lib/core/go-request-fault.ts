import type { FailedExchange } from "./ports/http.ts";

/** A request that got no answer, as Go's client says it: `Get "https://host/x": EOF`. */
export function goRequestFault({ method, url, why }: Pick<FailedExchange, "method" | "url" | "why">): string {
  const name = `${method.slice(0, 1)}${method.slice(1).toLowerCase()}`;
  // Node's words for a connection that is closed before the answer.
  return `${name} ${JSON.stringify(url)}: ${why === "socket hang up" ? "EOF" : why}`;
}
