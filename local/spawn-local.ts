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

/** Where everything is, as the ready line has it. */
export type LocalAddresses = Readonly<Omit<z.infer<typeof Ready>, "ready">>;

/** `sluice local` in a process of its own, ready. */
export interface SpawnedLocal extends LocalAddresses {
  readonly pid: number;
  /** Sends a signal and waits for the end; answers the exit code, or the signal that it died of. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

const maxLinesOfFailure = 20;

/**
 * Starts `sluice local --json` with these further arguments and waits for its ready line. `onLog` is told every line of
 * its log. Throws with the last of them where it ends before it is ready.
 */
export async function spawnLocal(
  args: readonly string[],
  signal: AbortSignal,
  onLog: (line: string) => void = () => undefined,
): Promise<SpawnedLocal> {
  const command = join(import.meta.dirname, "..", "cli", "sluice.js");
  const child = spawn(process.execPath, [command, "local", "--json", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    signal,
  });
  const ended = endOf(child);
  // Whoever waits for the end hears of a fault; until then it must not end this process.
  ended.catch(() => undefined);
  const lastLines: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    lastLines.push(line);
    if (lastLines.length > maxLinesOfFailure) lastLines.shift();
    onLog(line);
  });
  const line = await Promise.race([firstLine(child.stdout), ended.then((how) => ({ how }))]);
  if (typeof line !== "string") {
    throw new Error(`sluice local ended with ${line.how} before it was ready: ${lastLines.join("\n")}`);
  }
  const { ready: _ready, ...addresses } = Ready.parse(JSON.parse(line));
  return {
    ...addresses,
    pid: child.pid ?? 0,
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
