import { connect as connectTcp, createServer, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { pem } from "./pem.ts";
import { portOnLoopback } from "./port-on-loopback.ts";

/** The answer of Go's server to plain HTTP on a TLS port. */
const plainAnswer = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
const handshake = 0x16;

/** A TLS proxy in front of a server on loopback, with the certificate `server` of `test/fixtures/tls`. @param upstream `HOST:PORT` */
export async function tlsFront(upstream: string) {
  const [cert, key] = await Promise.all([pem("server.crt"), pem("server.key")]);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy()));
    socket.once("data", (first) => {
      if (first[0] !== handshake) {
        socket.end(plainAnswer);
        return;
      }
      socket.pause();
      socket.unshift(first);
      const secure = new TLSSocket(socket, { isServer: true, cert, key });
      const { hostname, port } = new URL(`http://${upstream}`);
      const onward = connectTcp(Number(port), hostname);
      for (const end of [secure, onward]) {
        end.on("error", () => {
          secure.destroy();
          onward.destroy();
        });
      }
      secure.pipe(onward).pipe(secure);
    });
  });
  const port = await portOnLoopback(server);
  return {
    address: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      for (const socket of sockets) socket.destroy();
      await closed.promise;
    },
  };
}
