import { mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * A fresh folder `<purpose>-<process id>-<random>` under a parent. What processes that were killed have left there goes: it
 * takes room and may hold secrets. The caller removes its own.
 */
export async function scratchFolder(parent: string, purpose: string): Promise<string> {
  for (const name of await readdir(parent)) {
    const [, owner, pid] = /^(.+)-(\d+)-[^-]+$/.exec(name) ?? [];
    if (owner !== purpose || isRunning(Number(pid))) continue;
    await rm(join(parent, name), { recursive: true, force: true });
  }
  return mkdtemp(join(parent, `${purpose}-${process.pid}-`));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It runs as somebody else.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
