import { once } from "node:events";
import type { Server } from "node:http";
import { messageOf } from "../lib/core/failure.ts";
import { processAtPort } from "./process-at-port.ts";

export interface Listening {
  readonly port: number;
  /** Ends the listening and every connection, those in use too. */
  close(): Promise<void>;
}

/**
 * Starts to listen on 127.0.0.1, on a free port for 0. Throws an error that says who cannot (`name`), which process has the
 * port where that can be known, and which `option` mends it.
 */
export async function listenOnLoopback(
  server: Server,
  port: number,
  { name, option }: { readonly name: string; readonly option: string },
): Promise<Listening> {
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    const why = messageOf(error).includes("EADDRINUSE")
      ? `${(await processAtPort(port)) ?? "something else"} listens there`
      : messageOf(error);
    throw new Error(
      `${name} cannot listen on 127.0.0.1:${port}: ${why}. End it, or choose another port with ${option} (0 for a free one)`,
      { cause: error },
    );
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
