import { once } from "node:events";
import { messageOf } from "../lib/core/failure.ts";
import { createServer } from "../lib/kube/node-http.ts";

export interface Receiver {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the address for webhooks. It knows no path yet, so each is answered 404. */
export async function startReceiver(port: number): Promise<Receiver> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end("404 page not found\n");
  });
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    throw new Error(
      `the receiver cannot listen on 127.0.0.1:${port}: ${messageOf(error)}. Choose another port with --receiver-port`,
      { cause: error },
    );
  }
  const bound = server.address();
  return {
    url: `http://127.0.0.1:${typeof bound === "object" && bound !== null ? bound.port : port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
