import type { IncomingMessage, ServerResponse } from "node:http";
import type { Receive } from "../functions/receiver.ts";
import { messageOf } from "../lib/core/failure.ts";
import type { Log } from "../lib/core/ports/log.ts";
import { createServer } from "../lib/http/node-http.ts";
import type { IncomingRequest } from "../lib/receiver/delivery.ts";
import { listenOnLoopback } from "./loopback/listen-on-loopback.ts";
import { refuseForeignRequest } from "./loopback/refuse-foreign-request.ts";

export interface Receiver {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  close(): Promise<void>;
}

/** The page with the last notifications. */
export const notificationsPath = "/notifications";

export interface ReceiverOptions {
  readonly port: number;
  /** That it answers to besides those of loopback: `NAME` or `NAME:PORT`, of a tunnel for example. */
  readonly names?: readonly string[];
  readonly receive: Receive;
  /** Pages for people at this machine, by their path. They are not shown to those who come by another name. */
  readonly pages?: Readonly<Record<string, () => string>>;
  readonly log: Log;
}

/** The limits for a request, as in Flux's server. */
const limits = { maxHeaderSize: 256 * 1024, headersTimeout: 10_000, requestTimeout: 30_000 };

/** Starts the server for webhooks. */
export async function startReceiver({
  port,
  names = [],
  receive,
  pages = {},
  log,
}: ReceiverOptions): Promise<Receiver> {
  const server = createServer(limits, (request, response) => {
    answer(request, response, { names, receive, pages }).catch((error: unknown) => {
      log.warn("webhook not answered", { error: messageOf(error) });
      response.destroy();
    });
  });
  const listening = await listenOnLoopback(server, port, { name: "the receiver", option: "--receiver-port" });
  return { url: `http://127.0.0.1:${listening.port}`, close: () => listening.close() };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { names, receive, pages }: Required<Pick<ReceiverOptions, "names" | "pages" | "receive">>,
): Promise<void> {
  const page = Object.hasOwn(pages, request.url ?? "") ? pages[request.url ?? ""] : undefined;
  const refusal =
    page === undefined ? refuseForeignRequest(request.headers, names) : refuseOtherMachine(request.headers);
  const made =
    refusal !== undefined
      ? textResponse(`${refusal}\n`, 403)
      : page !== undefined
        ? textResponse(page(), 200)
        : await receive(incoming(request));
  // What is left of a body that was too large is not read.
  if (!request.complete) response.setHeader("connection", "close");
  response.writeHead(made.status, Object.fromEntries(made.headers)).end(Buffer.from(await made.arrayBuffer()));
  request.resume();
}

/** A client that comes through a tunnel or a proxy sends webhooks, and reads nothing. */
function refuseOtherMachine(headers: IncomingMessage["headers"]): string | undefined {
  const isForwarded = ["forwarded", "x-forwarded-for", "x-real-ip"].some((name) => headers[name] !== undefined);
  return isForwarded ? "this page is shown at this machine only" : refuseForeignRequest(headers, []);
}

function textResponse(text: string, status: number): Response {
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return new Response(text, { status, headers });
}

function incoming(request: IncomingMessage): IncomingRequest {
  return {
    uri: request.url ?? "/",
    header: (name) => request.headersDistinct[name.toLowerCase()]?.[0],
    body: request,
  };
}
