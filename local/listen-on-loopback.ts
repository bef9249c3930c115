import { once } from "node:events";
import type { Server } from "node:http";
import { messageOf } from "../lib/core/failure.ts";

export interface Listening {
  readonly port: number;
  /** Ends the listening and every connection, those in use too. */
  close(): Promise<void>;
}

/** Starts to listen on 127.0.0.1, on a free port for 0. Throws an error that says who cannot (`name`) and which `option` mends it. */
export async function listenOnLoopback(
  server: Server,
  port: number,
  { name, option }: { readonly name: string; readonly option: string },
): Promise<Listening> {
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    const why = messageOf(error).includes("EADDRINUSE") ? "something else listens there" : messageOf(error);
    throw new Error(`${name} cannot listen on 127.0.0.1:${port}: ${why}. Choose another port with ${option}`, {
      cause: error,
    });
  }
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
