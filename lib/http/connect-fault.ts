import { isIP } from "node:net";
import { messageOf } from "../core/failure.ts";
import type { DialTarget } from "../core/ports/dial.ts";

/** Why no connection was made, in Go's words where they are the same on every system: `dial tcp 127.0.0.1:1: connect: connection refused`. */
export function connectFault(error: unknown, { host, port }: Pick<DialTarget, "host" | "port">): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const address = error instanceof Error && "address" in error ? String(error.address) : host;
  const where = `dial tcp ${isIP(address) === 6 ? `[${address}]` : address}:${port}`;
  const told: Readonly<Record<string, string>> = {
    ECONNREFUSED: `${where}: connect: connection refused`,
    ECONNRESET: `${where}: connect: connection reset by peer`,
    EHOSTUNREACH: `${where}: connect: no route to host`,
    ENETUNREACH: `${where}: connect: network is unreachable`,
    ENOTFOUND: `dial tcp: lookup ${host}: no such host`,
    ETIMEDOUT: `${where}: connect: connection timed out`,
  };
  const at = `dial tcp ${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
  return told[code] ?? `${at}: ${messageOf(error)}`;
}
