import type { IncomingMessage, ServerResponse } from "node:http";
import { stringify } from "yaml";
import { StatusError } from "../core/api-object.ts";
import { formatJson, parseJson } from "../core/json.ts";
import type { Acceptable } from "./accept.ts";
import type { User } from "./users.ts";

/** One request with what every handler needs of it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly user: User;
}

export const maxBodyBytes = 3 * 1024 * 1024;

/** @throws {StatusError} 413 */
export async function readBody(exchange: Exchange): Promise<string> {
  return (await readBytes(exchange)).toString("utf8");
}

/** @throws {StatusError} 413 */
export async function readBytes({ request }: Exchange): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > maxBodyBytes) throw tooLarge();
  // A refusal in the middle must leave the socket open for the answer.
  const body: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > maxBodyBytes) throw tooLarge();
    chunks.push(piece);
  }
  return Buffer.concat(chunks);
}

/**
 * Lets an unread body pass by, as far as it is not too long: a socket that is closed with bytes unread is reset, and
 * the client may never see its answer.
 */
export async function skipBody(exchange: Exchange): Promise<void> {
  if (exchange.request.complete || exchange.request.destroyed) return;
  await readBody(exchange).catch(() => {});
}

function tooLarge(): StatusError {
  const message = `Request entity too large: limit is ${maxBodyBytes}`;
  return new StatusError(413, "RequestEntityTooLarge", message);
}

export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Sends a whole answer that is JSON text, as YAML or with white space where the client wants that. */
export function sendJson(
  exchange: Exchange,
  status: number,
  json: string,
  type: Acceptable["type"] = "json",
  headers: Headers = {},
): void {
  const isPretty = /^(1|t|true)$/i.test(exchange.query.get("pretty") ?? "");
  if (type === "yaml") return send(exchange, status, "application/yaml", stringify(parseJson(json)), headers);
  const text = isPretty ? `${formatJson(parseJson(json), 2)}\n` : `${json}\n`;
  send(exchange, status, "application/json", text, headers);
}

export function send(exchange: Exchange, status: number, type: string, body: string, headers: Headers = {}): void {
  const { response, method } = exchange;
  response.writeHead(status, {
    "cache-control": "no-cache, private",
    ...mutable(headers),
    "content-type": type,
    "content-length": Buffer.byteLength(body),
  });
  response.end(method === "HEAD" ? undefined : body);
}

export function sendPlain(exchange: Exchange, status: number, body: string): void {
  send(exchange, status, "text/plain; charset=utf-8", body, { "x-content-type-options": "nosniff" });
}

/** Adds `Warning` headers to the answer, be it an error, as Kubernetes writes them. */
export function warn({ response }: Exchange, warnings: readonly string[]): void {
  for (const text of new Set(warnings)) response.appendHeader("warning", `299 - ${quoted(text)}`);
}

function quoted(text: string): string {
  // A header holds neither line breaks nor letters beyond Latin-1.
  return `"${text
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replace(/[^\x20-\xff]/g, "?")}"`;
}

function mutable(headers: Headers): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? value : [...value]]),
  );
}
