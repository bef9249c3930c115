import type { IncomingMessage } from "node:http";

/** The moment that a request was signed at, by its sender's clock. */
export function signedAt({ headers }: IncomingMessage): number {
  return Date.parse(String(headers["x-amz-date"]).replace(/(....)(..)(..T..)(..)/, "$1-$2-$3:$4:"));
}
