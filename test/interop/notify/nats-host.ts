import { createServer } from "node:net";
import { z } from "zod";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import type { GotRequest } from "./comparable-request.ts";

const Options = z.looseObject({ lang: z.string(), version: z.string() });

/** A NATS server that takes whatever is published. @param got is told of each message, with the options of its connection @returns its port */
export async function natsHost(got: (request: GotRequest) => void, open: AsyncDisposableStack): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    open.defer(() => void socket.destroy());
    socket.write(`INFO ${JSON.stringify({ headers: true, max_payload: 1_048_576 })}\r\n`);
    let text = "";
    let headers: GotRequest["headers"] = {};
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      for (;;) {
        const line = /^([^\r]*)\r\n/.exec(text)?.[1];
        if (line === undefined) return;
        const [, subject = "", bytes] = /^PUB (\S+) (\d+)$/.exec(line) ?? [];
        const end = line.length + 2 + (bytes === undefined ? 0 : Number(bytes) + 2);
        if (text.length < end) return;
        const payload = Buffer.from(text.slice(line.length + 2, end - 2), "latin1").toString();
        text = text.slice(end);
        if (line === "PING") socket.write("PONG\r\n");
        if (line.startsWith("CONNECT ")) headers = optionsOf(line.slice("CONNECT ".length));
        if (bytes !== undefined) got({ method: "PUB", path: subject, headers, body: JSON.parse(payload) });
      }
    });
  });
  open.defer(() => void server.close());
  return await portOnLoopback(server);
}

/** Without what a client says about itself. */
function optionsOf(json: string): GotRequest["headers"] {
  const { lang: _lang, version: _version, ...options } = Options.parse(JSON.parse(json));
  return options;
}
