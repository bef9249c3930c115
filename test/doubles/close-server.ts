import type { Server } from "node:http";

/** Ends a server of a test and every connection to it, those in use too. */
export async function closeServer(server: Server): Promise<void> {
  const closed = Promise.withResolvers<void>();
  server.close(() => closed.resolve());
  server.closeAllConnections();
  await closed.promise;
}
