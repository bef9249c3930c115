import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import { z } from "zod";
import type { FaultyWire } from "./faulty-wire.ts";

/**
 * What DynamoDB and the way to it do to a request. `throttled`, `broken`: it says so. `conflict`: another transaction is at work
 * on an item. `leftOver`: a batch is done in part. `dropped`: the connection ends before it gets there. `lost`: it is done, and the
 * connection ends without an answer. `silent`: it is done and no answer comes.
 */
export type DynamodbFault = "throttled" | "broken" | "conflict" | "leftOver" | "dropped" | "lost" | "silent";

/** A request as a fault is chosen for it. */
export interface SeenRequest {
  /** The action: `PutItem`. */
  readonly action: string;
  /** Which try of the SDK's it is, from 1. */
  readonly attempt: number;
}

const BatchGet = z.object({ RequestItems: z.record(z.string(), z.looseObject({ Keys: z.array(z.unknown()) })) });
const BatchWrite = z.object({ RequestItems: z.record(z.string(), z.array(z.unknown())) });
const Transaction = z.object({ TransactItems: z.array(z.unknown()) });

/** A way to DynamoDB on which things go wrong as `faultOf` says; undefined lets a request pass. */
export async function faultyDynamodb(
  target: string,
  faultOf: (request: SeenRequest) => DynamodbFault | undefined,
): Promise<FaultyWire> {
  const agent = new Agent({ keepAlive: true });
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const action = header(request, "x-amz-target").split(".").at(-1) ?? "";
      const attempt = Number(/attempt=([0-9]+)/.exec(header(request, "amz-sdk-request"))?.[1] ?? 1);
      seen.push(action);
      const fault = faultOf({ action, attempt });
      answer({ request, response, body: Buffer.concat(chunks).toString(), action, target, agent }, fault);
    });
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    seen,
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      agent.destroy();
      await closed.promise;
    },
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: string;
  readonly action: string;
  readonly target: string;
  readonly agent: Agent;
}

function answer(exchange: Exchange, fault: DynamodbFault | undefined): void {
  const { response, action, body } = exchange;
  switch (fault) {
    case undefined:
      return forward(exchange, body, (status, text) => reply(response, status, text));
    case "throttled":
      return refuse(response, 400, "ProvisionedThroughputExceededException", {});
    case "broken":
      return refuse(response, 500, "InternalServerError", {});
    case "dropped":
      response.destroy();
      return;
    case "lost":
      return forward(exchange, body, () => response.destroy());
    case "silent":
      return forward(exchange, body, () => {});
    case "conflict":
      return conflict(exchange);
    case "leftOver":
      return action === "BatchWriteItem" || action === "BatchGetItem" ? inPart(exchange) : answer(exchange, undefined);
  }
}

function conflict(exchange: Exchange): void {
  const { response, action, body } = exchange;
  if (action === "TransactWriteItems") {
    const { TransactItems: items } = Transaction.parse(JSON.parse(body));
    const reasons = items.map((_, index) => ({ Code: index === 0 ? "TransactionConflict" : "None" }));
    return refuse(response, 400, "TransactionCanceledException", { CancellationReasons: reasons });
  }
  const isWrite = action === "UpdateItem" || action === "PutItem" || action === "DeleteItem";
  return isWrite ? refuse(response, 400, "TransactionConflictException", {}) : answer(exchange, undefined);
}

/** Does the first half of a batch, rounded down, and leaves the rest to another call. */
function inPart(exchange: Exchange): void {
  const { action, body, response } = exchange;
  const isWrite = action === "BatchWriteItem";
  const asked: unknown = JSON.parse(body);
  const done: Record<string, unknown> = {};
  const left: Record<string, unknown> = {};
  if (isWrite) {
    for (const [table, writes] of Object.entries(BatchWrite.parse(asked).RequestItems)) {
      const half = Math.floor(writes.length / 2);
      if (half > 0) done[table] = writes.slice(0, half);
      left[table] = writes.slice(half);
    }
  } else {
    for (const [table, { Keys: keys, ...rest }] of Object.entries(BatchGet.parse(asked).RequestItems)) {
      const half = Math.floor(keys.length / 2);
      if (half > 0) done[table] = { ...rest, Keys: keys.slice(0, half) };
      left[table] = { ...rest, Keys: keys.slice(half) };
    }
  }
  const unprocessed = isWrite ? { UnprocessedItems: left } : { UnprocessedKeys: left };
  if (Object.keys(done).length === 0) return reply(response, 200, JSON.stringify(unprocessed));
  forward(exchange, JSON.stringify({ RequestItems: done }), (status, text) => {
    const said: unknown = JSON.parse(text);
    reply(response, status, JSON.stringify({ ...z.looseObject({}).parse(said), ...unprocessed }));
  });
}

function forward(
  { request, response, target, agent }: Exchange,
  body: string,
  then: (status: number, text: string) => void,
): void {
  const { hostname, port } = new URL(target);
  const headers = { ...request.headers, "content-length": Buffer.byteLength(body) };
  const onward = send({ host: hostname, port, method: request.method, path: request.url, headers, agent }, (found) => {
    const chunks: Buffer[] = [];
    found.on("data", (chunk: Buffer) => chunks.push(chunk));
    found.on("end", () => then(found.statusCode ?? 0, Buffer.concat(chunks).toString()));
  });
  onward.on("error", () => response.destroy());
  onward.end(body);
}

function refuse(response: ServerResponse, status: number, type: string, more: object): void {
  const body = { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: "said by the test", ...more };
  reply(response, status, JSON.stringify(body));
}

function reply(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": "application/x-amz-json-1.0" }).end(body);
}

function header(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === "string" ? value : "";
}
