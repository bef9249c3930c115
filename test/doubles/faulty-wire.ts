import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import { buffer } from "node:stream/consumers";
import { closeServer } from "./close-server.ts";
import { portOnLoopback } from "./port-on-loopback.ts";

/**
 * The fate of a request. `pass`: no fault. `dropped`: it never arrives, and the connection ends. `lost`: the server
 * carries it out, its answer never arrives. `cut`: half of the answer's body arrives. `silent`: the server carries it out and no answer comes.
 * `hang`: it never arrives and the connection stays open. Or it is answered at once, or another request is sent in its place.
 */
export type WireFault = "pass" | "dropped" | "lost" | "cut" | "silent" | "hang" | Answer | Changed;

/** The answer in place of the server's. */
interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** How often the server gets the request, and the fate of its last answer. */
export interface Changed {
  readonly onward: string;
  readonly copies?: number;
  readonly answerOf?: (status: number, body: string) => string;
  /** The request is carried out; the connection ends, or stays open. */
  readonly unanswered?: "lost" | "silent";
}

export interface FaultyWire extends AsyncDisposable {
  readonly url: string;
  /** Method and path of every request, as they came. */
  readonly seen: readonly string[];
}

/** A server between a client and `target`, which a client can tell from it only by the faults. */
export async function faultyWire(
  target: string | undefined,
  faultOf: (request: IncomingMessage, count: number, body: Buffer) => WireFault,
): Promise<FaultyWire> {
  const seen: string[] = [];
  const agent = new Agent({ keepAlive: true });
  const server = createServer((request, response) => {
    buffer(request).then(
      (body) => {
        const fault = faultOf(request, seen.length, body);
        seen.push(`${request.method ?? ""} ${request.url ?? ""}`);
        serve({ request, response, body, target, agent }, fault);
      },
      () => response.destroy(),
    );
  });
  const port = await portOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      const closed = closeServer(server);
      agent.destroy();
      await closed;
    },
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
  readonly target: string | undefined;
  readonly agent: Agent;
}

function serve(exchange: Exchange, fault: WireFault): void {
  const { response, body, target } = exchange;
  if (typeof fault === "object" && "status" in fault) {
    response.writeHead(fault.status, { ...fault.headers }).end(fault.body);
  } else if (fault === "dropped") response.destroy();
  else if (fault === "hang" || target === undefined) return;
  else if (typeof fault === "object") serveChanged(exchange, target, fault);
  else {
    forward(exchange, target, body, (answer, found) => {
      if (fault === "lost" || fault === "silent") return keepFrom(response, fault);
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      if (fault === "pass") response.end(found);
      else response.write(found.subarray(0, Math.floor(found.length / 2)), () => response.destroy());
    });
  }
}

function serveChanged(exchange: Exchange, target: string, fault: Changed): void {
  const { response } = exchange;
  const { onward, copies = 1, answerOf, unanswered } = fault;
  forward(exchange, target, Buffer.from(onward), ({ statusCode = 0, headers }, found) => {
    if (copies > 1) return serveChanged(exchange, target, { ...fault, copies: copies - 1 });
    const body = answerOf?.(statusCode, found.toString()) ?? found;
    if (unanswered !== undefined) return keepFrom(response, unanswered);
    const { "content-length": _, "transfer-encoding": __, ...kept } = headers;
    response.writeHead(statusCode, kept).end(body);
  });
}

function keepFrom(response: ServerResponse, fault: "lost" | "silent"): void {
  if (fault === "lost") response.destroy();
}

/** The headers stay as they are, `host` too: it is part of what was signed. */
function forward(
  { request, response, agent }: Exchange,
  target: string,
  body: Buffer,
  then: (answer: IncomingMessage, body: Buffer) => void,
): void {
  const { hostname, port } = new URL(target);
  const { "transfer-encoding": _, ...kept } = request.headers;
  const headers = { ...kept, "content-length": body.length };
  const onward = send({ host: hostname, port, method: request.method, path: request.url, headers, agent }, (answer) => {
    buffer(answer).then(
      (found) => then(answer, found),
      () => response.destroy(),
    );
  });
  onward.on("error", () => response.destroy());
  onward.end(body);
}
