import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { messageOf } from "../../lib/core/failure.ts";
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

/** Whether a server could not listen because another process had its port, in the words of Go, Java, Python and Node. */
export const isPortTaken = (error: unknown): boolean =>
  /address (is )?already in use|EADDRINUSE/i.test(messageOf(error));

/** So often in a row no other process takes a port at the wrong moment. */
export const maxStarts = 5;

/**
 * Starts a server that cannot choose its ports itself. Another process may take one between the look and the start: it is started again
 * then, with other ports.
 */
export async function onFreePorts<Started>(
  count: number,
  start: (ports: readonly number[]) => Promise<Started>,
  isTaken: (error: unknown, ports: readonly number[]) => boolean = isPortTaken,
): Promise<Started> {
  for (let starts = 1; ; starts++) {
    const ports = await freePorts(count);
    try {
      return await start(ports);
    } catch (error) {
      if (starts === maxStarts || !isTaken(error, ports)) throw error;
    }
  }
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
