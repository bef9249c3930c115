import { createServer, type IncomingMessage, type Server } from "node:http";
import { connect as connectTcp, type Socket } from "node:net";
import { portOnLoopback } from "./port-on-loopback.ts";

/**
 * An HTTP proxy that tunnels every request to loopback and records it, or refuses it with the given status line.
 *
 * @param to the port that every request is tunnelled to; by default the one that it names
 */
export async function tunnelProxy(refuse?: string, to?: number) {
  const asked: { readonly target: string; readonly authorization: string | undefined }[] = [];
  const server: Server = createServer().on("connect", (request: IncomingMessage, socket: Socket) => {
    asked.push({ target: request.url ?? "", authorization: request.headers["proxy-authorization"] });
    if (refuse !== undefined) {
      socket.end(`HTTP/1.1 ${refuse}\r\n\r\n`);
      return;
    }
    const port = to ?? Number(new URL(`http://${request.url ?? ""}`).port);
    const upstream = connectTcp(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [socket, upstream]) {
      end.on("error", () => {
        socket.destroy();
        upstream.destroy();
      });
    }
  });
  const port = await portOnLoopback(server);
  return {
    asked,
    port,
    [Symbol.dispose]() {
      server.close();
    },
  };
}
