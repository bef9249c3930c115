import { createServer } from "../lib/kube/node-http.ts";
import { listenOnLoopback } from "./listen-on-loopback.ts";
import { refuseForeignRequest } from "./refuse-foreign-request.ts";

export interface Receiver {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts the address for webhooks. It knows no path yet, so each is answered 404.
 *
 * @param names that it answers to, beside those of loopback: `NAME` or `NAME:PORT`, of a tunnel for example
 */
export async function startReceiver(port: number, names: readonly string[] = []): Promise<Receiver> {
  const server = createServer((request, response) => {
    request.resume();
    const refusal = refuseForeignRequest(request.headers, names);
    const [status, text] = refusal === undefined ? [404, "404 page not found"] : [403, refusal];
    response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${text}\n`);
  });
  const listening = await listenOnLoopback(server, port, { name: "the receiver", option: "--receiver-port" });
  return { url: `http://127.0.0.1:${listening.port}`, close: () => listening.close() };
}
