import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { closeServer } from "../../doubles/close-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import type { InvocationResult } from "./runtime-api.ts";

/** Lambda refuses a larger request before the function sees it. */
const maxBytes = 6_291_456;

const Structured = z.object({
  statusCode: z.int().min(100).max(599),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().default(""),
  isBase64Encoded: z.boolean().default(false),
});

export interface FunctionUrl {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** A function's own URL, payload version 2.0, without IAM: https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html */
export async function startFunctionUrl(invoke: (event: unknown) => Promise<InvocationResult>): Promise<FunctionUrl> {
  const server = createServer((request, response) => {
    serve(request, response, invoke).catch(() => response.destroy());
  });
  const port = await portOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}/`,
    close: async () => {
      await closeServer(server);
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  invoke: (event: unknown) => Promise<InvocationResult>,
): Promise<void> {
  const body = await buffer(request);
  if (body.length > maxBytes) {
    response.writeHead(413).end();
    return;
  }
  const result = await invoke(eventOf(request, body));
  if (result.kind !== "returned") {
    response.writeHead(502, { "content-type": "application/json" }).end('{"Message":"Internal Server Error"}');
    return;
  }
  const { success, data } = Structured.safeParse(result.payload);
  // Anything else is a body of JSON with status 200.
  const { statusCode, headers, body: text, isBase64Encoded } = success ? data : plain(result.payload);
  response.writeHead(statusCode, headers).end(Buffer.from(text, isBase64Encoded ? "base64" : "utf8"));
}

const plain = (payload: unknown): z.infer<typeof Structured> => ({
  statusCode: 200,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(payload),
  isBase64Encoded: false,
});

function eventOf({ method = "GET", url = "/", headers, socket }: IncomingMessage, body: Buffer): object {
  const { pathname, search } = new URL(url, "http://function");
  const isText = /^(text\/|application\/(json|javascript|xml|x-www-form-urlencoded))/.test(
    headers["content-type"] ?? "",
  );
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(",")])),
    requestContext: {
      http: { method, path: pathname, sourceIp: socket.remoteAddress, userAgent: headers["user-agent"] },
    },
    ...(body.length === 0 ? {} : { body: body.toString(isText ? "utf8" : "base64") }),
    isBase64Encoded: body.length > 0 && !isText,
  };
}
