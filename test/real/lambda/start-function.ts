import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { deadlineMs } from "../../deadline.ts";
import { memoryOf } from "./memory-of.ts";
import { type InvocationResult, startRuntimeApi } from "./runtime-api.ts";
import { confine, type Sandbox } from "./sandbox.ts";

const watchEveryMs = 100;
/** For a process that hangs as it starts; more than Lambda's ten seconds, since here others compute. */
const startLimitMs = deadlineMs;
/** Lambda ends an environment with KILL; so do we, at once. */
const nodeFlags = ["--enable-source-maps"];

export interface FunctionSpec {
  readonly name: string;
  /** Made by `bundleFunction`, or a bundle with `addRuntime`. */
  readonly folder: string;
  /** File and export: `index.handler`. Without one `handler.handler`, as `bundleFunction` makes it. */
  readonly handler?: string;
  /** The environment of the function: it gets no other variable of ours. */
  readonly env: Readonly<Record<string, string>>;
  readonly memoryMegabytes: number;
  readonly timeoutMs: number;
  readonly region: string;
  /** Default: the best that the machine allows. */
  readonly sandbox?: Sandbox;
}

export interface LambdaFunction {
  readonly sandbox: Sandbox;
  /** One at a time. Starts a process if there is none; a process that exceeds its time or memory is ended and its answer lost. */
  readonly invoke: (event: unknown) => Promise<InvocationResult>;
  /** The process of the environment, for a test that kills it; undefined before the first invocation and between two processes. */
  readonly pid: () => number | undefined;
  /** Everything the processes have written so far. */
  readonly output: () => string;
  readonly stop: () => Promise<void>;
}

/** One environment of a function, as Lambda keeps it: a process of its own that asks the runtime API for its events. */
export async function startFunction(spec: FunctionSpec): Promise<LambdaFunction> {
  const { name, folder, handler = "handler.handler", env, memoryMegabytes, timeoutMs, region, sandbox } = spec;
  const api = await startRuntimeApi(`arn:aws:lambda:${region}:000000000000:function:${name}`);
  const confined = confine(folder, nodeFlags, sandbox);
  const lambda = {
    AWS_LAMBDA_RUNTIME_API: api.address,
    _HANDLER: handler,
    LAMBDA_TASK_ROOT: confined.taskRoot,
    AWS_REGION: region,
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: `${memoryMegabytes}`,
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: "local",
    TZ: ":UTC",
    PATH: "/usr/local/bin:/usr/bin:/bin",
  };
  let child: ChildProcess | undefined;
  let output = "";

  const end = (reason: string): void => {
    const { pid } = child ?? {};
    child = undefined;
    api.lose(reason);
    if (pid === undefined) return;
    try {
      // It leads a group, so its children end with it.
      process.kill(-pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  };
  const begin = (): ChildProcess => {
    const started = spawn(confined.command, confined.args, { env: { ...lambda, ...env }, cwd: folder, detached: true });
    const keep = (piece: Buffer): void => {
      output += piece.toString();
    };
    started.stdout.on("data", keep);
    started.stderr.on("data", keep);
    started.once("exit", (status, signal) => {
      if (child === started) end(`the process ended with ${signal ?? `status ${status}`}`);
    });
    started.once("error", (error) => {
      if (child === started) end(`the process could not be started: ${error.message}`);
    });
    return started;
  };

  return {
    sandbox: confined.sandbox,
    pid: () => child?.pid,
    output: () => output,
    async invoke(event) {
      child ??= begin();
      const { pid = 0 } = child;
      let timer = setTimeout(() => end(`did not ask for its event within ${startLimitMs} ms`), startLimitMs);
      const begins = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => end(`timed out after ${timeoutMs} ms`), timeoutMs);
      };
      const watch = setInterval(() => {
        if (memoryOf(pid) > memoryMegabytes * 1_048_576) end(`over its memory of ${memoryMegabytes} MB`);
      }, watchEveryMs);
      try {
        return await api.invoke(event, timeoutMs, begins);
      } finally {
        clearTimeout(timer);
        clearInterval(watch);
      }
    },
    async stop() {
      const last = child;
      end("stopped");
      if (last?.exitCode === null && last.signalCode === null) await once(last, "exit");
      await api.close();
    },
  };
}
