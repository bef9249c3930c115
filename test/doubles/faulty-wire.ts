import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";

/**
 * What happens to a request on its way. `pass`: nothing. `lost`: the server does it, its answer never arrives. `cut`: half of the
 * answer's body arrives. `hang`: it never gets there and nobody says so.
 */
export type WireFault =
  | "pass"
  | "lost"
  | "cut"
  | "hang"
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

export interface FaultyWire extends AsyncDisposable {
  readonly url: string;
  /** Method and path of every request, as they came. */
  readonly seen: readonly string[];
}

/** A server between a client and `target`, which no client can tell from it but by the faults. */
export async function faultyWire(
  target: string | undefined,
  faultOf: (request: IncomingMessage, count: number) => WireFault,
): Promise<FaultyWire> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const fault = faultOf(request, seen.length);
    seen.push(`${request.method ?? ""} ${request.url ?? ""}`);
    if (typeof fault === "object") {
      request.resume().on("end", () => response.writeHead(fault.status, { ...fault.headers }).end(fault.body));
    } else if (fault === "hang" || target === undefined) request.resume();
    else forward(request, response, target, fault);
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
      await closed.promise;
    },
  };
}

/** The headers stay as they are, `host` too: it is part of what was signed. */
function forward(
  request: IncomingMessage,
  response: ServerResponse,
  target: string,
  fault: "pass" | "lost" | "cut",
): void {
  const { method, url, headers } = request;
  const { hostname, port } = new URL(target);
  const onward = send({ host: hostname, port, method, path: url, headers, agent: false }, (answer) => {
    const chunks: Buffer[] = [];
    answer.on("data", (chunk: Buffer) => chunks.push(chunk));
    answer.on("end", () => {
      const body = Buffer.concat(chunks);
      if (fault === "lost") response.destroy();
      else {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        if (fault === "pass") response.end(body);
        else response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
      }
    });
  });
  onward.on("error", () => response.destroy());
  request.pipe(onward);
}
