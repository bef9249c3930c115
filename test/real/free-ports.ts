import { once } from "node:events";
import { createServer } from "node:net";

/** Free ports of loopback. All are held until the last is known, so that no port is answered twice. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("a server on loopback has no port");
    return address.port;
  });
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}
