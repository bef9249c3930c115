import { once } from "node:events";
import type { Server } from "node:net";

/** Makes a server of a test listen on a free port of loopback, and answers the port. */
export async function portOnLoopback(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a server on loopback has no port");
  return address.port;
}
