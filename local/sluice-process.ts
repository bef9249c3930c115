import { z } from "zod";
import { type LocalAddresses, spawnLocal } from "./spawn-local.ts";

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
  readonly ready: LocalAddresses;
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
  const requests: LoggedRequest[] = [];
  const ends: LoggedEnd[] = [];
  let listener: ((request: LoggedRequest) => boolean) | undefined;
  const local = await spawnLocal(["--verbose", ...args], signal, (line) => {
    const logged = Line.safeParse(parsed(line));
    if (!logged.success) return;
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
  return {
    pid: local.pid,
    ready: local,
    requests,
    ends,
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

const Line = z.discriminatedUnion("message", [RequestLine, EndLine]);

/** A line of the log, or whatever else somebody wrote there. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}
