import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";

const Ready = z.object({
  ready: z.literal(true),
  kubeconfig: z.string(),
  registry: z.string(),
  receiver: z.string(),
  state: z.string(),
});
export type Ready = z.infer<typeof Ready>;

/** One request that Sluice's own client sent, as its log tells. */
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

/** One run of a flow that ended, as the log tells. */
const EndLine = z.object({
  time: z.string(),
  message: z.literal("reconcile finished"),
  key: z.object({ kind: z.string(), name: z.string() }),
  outcome: z.string(),
  durationMs: z.number(),
});
export type LoggedEnd = Omit<z.infer<typeof EndLine>, "message" | "time"> & { readonly at: number };

export interface SluiceProcess {
  readonly pid: number;
  readonly ready: Ready;
  /** Every request to the API server since the start, in the order of the answers. */
  readonly requests: readonly LoggedRequest[];
  /** Every run that ended since the start. */
  readonly ends: readonly LoggedEnd[];
  /** SIGTERM; answers the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Calls `listener` with every further request as it is logged, until it answers true. */
  watch(listener: (request: LoggedRequest) => boolean): void;
}

/** Starts `sluice local` as a process of its own, as a user would, and waits until it is ready. */
export async function startSluiceProcess(args: readonly string[], signal: AbortSignal): Promise<SluiceProcess> {
  const main = join(import.meta.dirname, "main.ts");
  const child = spawn(process.execPath, [main, "--json", "--verbose", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const requests: LoggedRequest[] = [];
  const ends: LoggedEnd[] = [];
  const errors: string[] = [];
  let listener: ((request: LoggedRequest) => boolean) | undefined;
  createInterface({ input: child.stderr }).on("line", (line) => {
    const logged = Line.safeParse(parsed(line));
    if (!logged.success) {
      errors.push(line);
      return;
    }
    const at = Date.parse(logged.data.time);
    if (logged.data.message === "reconcile finished") {
      const { key, outcome, durationMs } = logged.data;
      ends.push({ key, outcome, durationMs, at });
      return;
    }
    const request = { ...logged.data, at };
    requests.push(request);
    if (listener?.(request)) listener = undefined;
  });
  const ready = await readyOf(child, errors, signal);
  return {
    pid: child.pid ?? 0,
    ready,
    requests,
    ends,
    stop: () => ended(child, "SIGTERM"),
    kill: async () => {
      await ended(child, "SIGKILL");
    },
    watch: (next) => {
      listener = next;
    },
  };
}

async function readyOf(child: ChildProcess, errors: readonly string[], signal: AbortSignal): Promise<Ready> {
  const { stdout } = child;
  if (stdout === null) throw new Error("sluice local has no standard output");
  const gone = once(child, "exit", { signal }).then(() => {
    throw new Error(`sluice local ended before it was ready: ${errors.slice(-3).join("\n")}`);
  });
  const line = once(createInterface({ input: stdout }), "line", { signal });
  const lines: readonly unknown[] = await Promise.race([line, gone]);
  gone.catch(() => undefined);
  return Ready.parse(JSON.parse(String(lines[0])));
}

async function ended(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, "exit");
    child.kill(signal);
    await exit;
  }
  return child.exitCode;
}

const Line = z.discriminatedUnion("message", [RequestLine, EndLine]);

/** A line of the log, or whatever else somebody wrote there. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}
