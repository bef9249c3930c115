import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { portOf } from "../doubles/port-on-loopback.ts";

/** Below it are the ports that people give to servers of their own. */
const lowest = 10_000;
/** The beginning of the ports that Linux gives away by itself, and what it is elsewhere. */
const usualEphemeral = 32_768;

/**
 * Free ports of loopback, which no other process gets unless it asks for them by number: until a part listens, the system would give
 * one of its own choice to the next connection or server. All are held until the last is known, so that no port is answered twice.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers: Server[] = [];
  while (servers.length < count) {
    const server = await listening(candidate());
    if (server !== undefined) servers.push(server);
  }
  const ports = servers.map(portOf);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}

/** 0 where the system gives away nearly all ports by itself. */
function candidate(): number {
  const end = ephemeralStart();
  return end - lowest < 1_000 ? 0 : randomInt(lowest, end);
}

/** The first of the ports that the system gives away by itself. */
export function ephemeralStart(): number {
  try {
    return Number.parseInt(readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8"), 10);
  } catch {
    return usualEphemeral;
  }
}

/** Nothing if the port is taken. */
async function listening(port: number): Promise<Server | undefined> {
  const server = createServer();
  try {
    await once(server.listen(port, "127.0.0.1"), "listening");
    return server;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return undefined;
    throw error;
  }
}
