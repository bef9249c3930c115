import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { z } from "zod";

/** One request of Sluice's own client, from its log. */
const RequestLine = z.object({
  time: z.string(),
  message: z.literal("api request"),
  verb: z.string(),
  dryRun: z.boolean(),
  path: z.string(),
  status: z.number(),
});
export interface LoggedRequest extends z.infer<typeof RequestLine> {
  /** When it was answered, wall time in milliseconds. */
  readonly at: number;
}

/** One ended run of a flow, from the log. */
const EndLine = z.object({
  time: z.string(),
  message: z.enum(["reconcile finished", "reconcile failed"]),
  key: z.object({ kind: z.string(), name: z.string() }),
  outcome: z.string(),
  durationMs: z.number(),
});
/** The measurements, if an event was missed. */
const MissedLine = z.object({ time: z.string(), message: z.literal("measured"), EventsMissed: z.number() });

export type LoggedEnd = Omit<z.infer<typeof EndLine>, "message" | "time"> & { readonly at: number };

export interface SluiceProcess {
  readonly pid: number;
  readonly ready: LocalAddresses;
  /** Every request to the API server since the start, in the order of the answers. */
  readonly requests: readonly LoggedRequest[];
  /** Every run that ended since the start. */
  readonly ends: readonly LoggedEnd[];
  /** When runs have found what an event should have told, wall time in milliseconds. */
  readonly missed: readonly { readonly at: number }[];
  /** SIGTERM; answers the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Calls `listener` with every further request as it is logged, until it answers true. */
  watch(listener: (request: LoggedRequest) => boolean): void;
}

/** Starts `sluice local` as a process of its own, as a user would, and waits until it is ready. */
export async function startSluiceProcess(args: readonly string[], signal: AbortSignal): Promise<SluiceProcess> {
  const requests: LoggedRequest[] = [];
  const ends: LoggedEnd[] = [];
  const missed: { at: number }[] = [];
  let listener: ((request: LoggedRequest) => boolean) | undefined;
  const local = await spawnLocal(["--verbose", ...args], signal, (line) => {
    const logged = Line.safeParse(parsed(line));
    if (!logged.success) return;
    const at = Date.parse(logged.data.time);
    if (logged.data.message === "measured") {
      missed.push({ at });
      return;
    }
    if (logged.data.message !== "api request") {
      const { key, outcome, durationMs } = logged.data;
      ends.push({ key, outcome, durationMs, at });
      return;
    }
    const request = { ...logged.data, at };
    requests.push(request);
    if (listener?.(request)) listener = undefined;
  });
  return {
    pid: local.pid,
    ready: local,
    requests,
    ends,
    missed,
    async stop() {
      const how = await local.end("SIGTERM");
      return typeof how === "number" ? how : null;
    },
    async kill() {
      await local.end("SIGKILL");
    },
    watch: (next) => {
      listener = next;
    },
  };
}

const Line = z.discriminatedUnion("message", [RequestLine, EndLine, MissedLine]);

/** The object of a log line, or the text of any other line. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

const Ready = z.strictObject({
  ready: z.literal(true),
  kubeconfig: z.string(),
  registry: z.string(),
  receiver: z.string(),
  state: z.string(),
  clusters: z.array(
    z.strictObject({
      name: z.string(),
      kubeconfig: z.string(),
      context: z.string().optional(),
      id: z.string().optional(),
      fault: z.string().optional(),
    }),
  ),
});

/** The addresses of the ready line. */
export type LocalAddresses = Readonly<Omit<z.infer<typeof Ready>, "ready">>;

/** `sluice local` in a process of its own, ready. */
export interface SpawnedLocal extends LocalAddresses {
  readonly pid: number;
  /** Sends a signal and waits for the end; answers the exit code, or the signal that it died of. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

const maxLinesOfFailure = 20;

/**
 * Starts `sluice local --json` with these further arguments and waits for its ready line. `onLog` gets every line of
 * its log. Throws an error with the last lines if it ends before it is ready.
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
  // A caller that waits for the end gets the error; until then it must not end this process.
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

/** Never resolves if the stream ends without a line: then the process has ended. */
function firstLine(stream: Readable): Promise<string> {
  return new Promise((resolve) => {
    createInterface({ input: stream }).once("line", resolve);
  });
}

/** Resolves once all its output has been read, too. */
function endOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, killedBy) => {
      resolve(code ?? killedBy ?? 1);
    });
  });
}
