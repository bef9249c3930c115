import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { portOf } from "../doubles/port-on-loopback.ts";

/** A port on an address of this machine that leads to one on loopback. */
export interface OnOwnAddress extends AsyncDisposable {
  readonly ip: string;
  readonly port: number;
}

/**
 * Makes a server on loopback reachable by an address of this machine that is none of loopback: API servers accept no loopback address as an
 * endpoint of a Service. Throws if the machine has none.
 *
 * @param url of the server on loopback
 */
export async function onOwnAddress(url: string): Promise<OnOwnAddress> {
  const ip = ownAddress();
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const behind = connect(Number(port), hostname);
    for (const end of [socket, behind]) {
      sockets.add(end);
      end.on("close", () => sockets.delete(end));
      end.on("error", () => {
        socket.destroy();
        behind.destroy();
      });
    }
    socket.pipe(behind).pipe(socket);
  });
  await once(server.listen(0, ip), "listening");
  return {
    ip,
    port: portOf(server),
    async [Symbol.asyncDispose]() {
      const closed = once(server.close(), "close");
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function ownAddress(): string {
  const found = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ address, family, internal }) => !internal && family === "IPv4" && !address.startsWith("169.254."));
  if (found === undefined) {
    throw new Error("this machine has no IPv4 address but loopback, and an API server reaches no endpoint there");
  }
  return found.address;
}
