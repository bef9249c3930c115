import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { z } from "zod";

const Ready = z.strictObject({
  ready: z.literal(true),
  kubeconfig: z.string(),
  registry: z.string(),
  receiver: z.string(),
  state: z.string(),
});

/** `sluice local` in a process of its own, ready. */
export interface SpawnedLocal extends Omit<z.infer<typeof Ready>, "ready"> {
  readonly pid: number;
  /** The lines of its log since it started. */
  readonly log: readonly string[];
  /** Sends a signal and waits for the end; answers the exit code, or the signal that it died of. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

/**
 * Starts `sluice local --json` with these further arguments and waits for its ready line. Throws with what it wrote to
 * standard error where it ends before.
 */
export async function spawnLocal(args: readonly string[], signal: AbortSignal): Promise<SpawnedLocal> {
  const main = join(import.meta.dirname, "main.ts");
  const child = spawn(process.execPath, [main, "--json", ...args], { stdio: ["ignore", "pipe", "pipe"], signal });
  const ended = endOf(child);
  // Whoever waits for the end hears of a fault; until then it must not end this process.
  ended.catch(() => undefined);
  const log: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => log.push(line));
  const line = await Promise.race([firstLine(child.stdout), ended.then((how) => ({ how }))]);
  if (typeof line !== "string") {
    throw new Error(`sluice local ended with ${line.how} before it was ready: ${log.join("\n")}`);
  }
  const { ready: _ready, ...addresses } = Ready.parse(JSON.parse(line));
  return {
    ...addresses,
    pid: child.pid ?? 0,
    log,
    async end(how) {
      child.kill(how);
      return ended;
    },
  };
}

/** Never resolves where the stream ends without a line: then the process has ended. */
function firstLine(stream: Readable): Promise<string> {
  return new Promise((resolve) => {
    createInterface({ input: stream }).once("line", resolve);
  });
}

/** Resolves when all that it wrote has been read, too. */
function endOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, killedBy) => {
      resolve(code ?? killedBy ?? 1);
    });
  });
}
