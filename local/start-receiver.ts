import { createServer } from "../lib/kube/node-http.ts";
import { listenOnLoopback } from "./listen-on-loopback.ts";

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
  const listening = await listenOnLoopback(server, port, { name: "the receiver", option: "--receiver-port" });
  return { url: `http://127.0.0.1:${listening.port}`, close: () => listening.close() };
}
