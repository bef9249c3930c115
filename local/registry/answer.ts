import type { IncomingMessage, ServerResponse } from "node:http";

/** One request with what every handler needs of it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly query: URLSearchParams;
}

/** Sends a whole answer; a HEAD request gets its headers only. */
export function answer(
  { response, method }: Exchange,
  status: number,
  headers: Readonly<Record<string, string | number>>,
  body: string | Uint8Array = "",
): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, { ...headers, ...("content-length" in headers ? {} : { "content-length": length }) });
  response.end(method === "HEAD" ? undefined : body);
}

export function answerJson(
  exchange: Exchange,
  status: number,
  value: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  answer(exchange, status, { "content-type": "application/json", ...headers }, JSON.stringify(value));
}
