import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from "node:http";
import { closeServer } from "./close-server.ts";
import { portOnLoopback } from "./port-on-loopback.ts";

/** The treatment of one request. `lost`: it is served, but its answer never arrives. An object is the answer in its place. */
export type Treatment =
  | "drop"
  | "forward"
  | "lost"
  | "throttle"
  | "unavailable"
  | { readonly status: number; readonly text: string };

export interface UnreliableProxy extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
}

/** Stands between a client and an HTTP server, and treats every request as the test says. Counts from 1; `url` is path and query. */
export async function unreliableProxy(
  target: string,
  treat: (count: number, url: string, method: string) => Treatment,
): Promise<UnreliableProxy> {
  let count = 0;
  const server = createServer((request, response) => {
    const treatment = treat(++count, request.url ?? "/", request.method ?? "GET");
    if (typeof treatment === "object") {
      request.resume();
      response.writeHead(treatment.status, { "content-type": "application/json" }).end(treatment.text);
      return;
    }
    switch (treatment) {
      case "drop":
        request.destroy();
        return;
      case "throttle":
        request.resume();
        response.writeHead(429, { "retry-after": "1" }).end();
        return;
      case "unavailable":
        request.resume();
        response.writeHead(503).end("the server is overloaded");
        return;
      case "forward":
      case "lost":
        forward(request, response, target, treatment === "lost");
    }
  });
  const port = await portOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await closeServer(server);
    },
  };
}

function forward(request: IncomingMessage, response: ServerResponse, target: string, isLost: boolean): void {
  const { method, headers, url = "/" } = request;
  const onward = sendRequest(new URL(url, target), { method, headers }, (answer) => {
    if (isLost) {
      answer.destroy();
      response.destroy();
      return;
    }
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}
