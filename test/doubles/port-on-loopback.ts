import { once } from "node:events";
import { Server as HttpServer } from "node:http";
import { Server as HttpsServer } from "node:https";
import type { Server } from "node:net";

/**
 * Makes a server of a test listen on a free port of loopback, and answers the port. It ends no connection because it was idle: on a busy
 * machine five seconds, which is Node's limit, pass between two requests that tests expect on one connection.
 */
export async function portOnLoopback(server: Server): Promise<number> {
  if (server instanceof HttpServer || server instanceof HttpsServer) server.keepAliveTimeout = 0;
  await once(server.listen(0, "127.0.0.1"), "listening");
  return portOf(server);
}

/** The port of a listening server. */
export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a server on loopback has no port");
  return address.port;
}
