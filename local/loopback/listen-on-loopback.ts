import { once } from "node:events";
import { readdir, readFile, readlink } from "node:fs/promises";
import type { Server } from "node:http";
import { basename } from "node:path";
import { messageOf } from "../../lib/core/failure.ts";

export interface Listening {
  readonly port: number;
  /** Stops listening and ends every connection, those in use too. */
  close(): Promise<void>;
}

/**
 * Starts to listen on 127.0.0.1, on a free port for 0. Throws an error with the server's `name`, the process that has the
 * port if it is known, and the `option` that chooses another port.
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
      ? `${(await processAtPort(port)) ?? "another process"} listens there`
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

/**
 * The process that listens on a TCP port of this machine, as `process 4711 (node)`. Undefined if the system does not tell;
 * Linux tells it for the user's own processes.
 */
export async function processAtPort(port: number): Promise<string | undefined> {
  try {
    const sockets = new Set((await Promise.all(tables.map((file) => socketsAt(port, file)))).flat());
    if (sockets.size === 0) return undefined;
    for (const pid of (await readdir("/proc")).filter((name) => /^[0-9]+$/.test(name))) {
      if (await holdsOneOf(sockets, pid)) return `process ${pid} (${await programOf(pid)})`;
    }
  } catch {
    // Other systems have no such folder: the error is clear without it.
  }
  return undefined;
}

const tables = ["/proc/net/tcp", "/proc/net/tcp6"];
const listening = "0A";

/** The sockets that listen on the port, by their names in a process's list of open files. */
async function socketsAt(port: number, table: string): Promise<readonly string[]> {
  const atPort = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = (await readFile(table, "utf8").catch(() => "")).split("\n").map((row) => row.trim().split(/\s+/));
  return rows.flatMap(([, local = "", , state, , , , , , inode]) =>
    local.endsWith(atPort) && state === listening ? [`socket:[${inode}]`] : [],
  );
}

async function holdsOneOf(sockets: ReadonlySet<string>, pid: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  // Empty for a process of another user, or one that has ended meanwhile.
  const files = await readdir(folder).catch(() => []);
  const targets = await Promise.all(files.map((file) => readlink(`${folder}/${file}`).catch(() => "")));
  return targets.some((target) => sockets.has(target));
}

/** The name of its program only: arguments may hold a password. */
async function programOf(pid: string): Promise<string> {
  const [program = ""] = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
  return basename(program) || "unknown";
}
