import { readdir, readFile, readlink } from "node:fs/promises";
import { basename } from "node:path";

/**
 * Which process listens on a TCP port of this machine, as `process 4711 (node)`. Undefined where the system does not say:
 * Linux does, of the user's own processes.
 */
export async function processAtPort(port: number): Promise<string | undefined> {
  try {
    const sockets = new Set((await Promise.all(tables.map((file) => socketsAt(port, file)))).flat());
    if (sockets.size === 0) return undefined;
    for (const pid of (await readdir("/proc")).filter((name) => /^[0-9]+$/.test(name))) {
      if (await holdsOneOf(sockets, pid)) return `process ${pid} (${await programOf(pid)})`;
    }
  } catch {
    // No such folder on other systems: the refusal is clear without it.
  }
  return undefined;
}

const tables = ["/proc/net/tcp", "/proc/net/tcp6"];
const listening = "0A";

/** The sockets that listen on the port, as a process's list of open files names them. */
async function socketsAt(port: number, table: string): Promise<readonly string[]> {
  const atPort = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = (await readFile(table, "utf8").catch(() => "")).split("\n").map((row) => row.trim().split(/\s+/));
  return rows.flatMap(([, local = "", , state, , , , , , inode]) =>
    local.endsWith(atPort) && state === listening ? [`socket:[${inode}]`] : [],
  );
}

async function holdsOneOf(sockets: ReadonlySet<string>, pid: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  // Empty for a process of another user, and for one that has ended meanwhile.
  const files = await readdir(folder).catch(() => []);
  const targets = await Promise.all(files.map((file) => readlink(`${folder}/${file}`).catch(() => "")));
  return targets.some((target) => sockets.has(target));
}

/** The name of its program alone, since arguments may hold a password. */
async function programOf(pid: string): Promise<string> {
  const [program = ""] = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
  return basename(program) || "unknown";
}
