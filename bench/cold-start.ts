import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { bundleFunctions } from "../infra/bundle.ts";
import { functionEnvironment } from "../test/doubles/function-environment.ts";
import { addRuntime } from "../test/real/lambda/add-runtime.ts";
import { confine } from "../test/real/lambda/sandbox.ts";
import { type Figure, figure } from "./figure.ts";

const starts = 10;

/** Of the medians, in milliseconds, on a quiet machine (issue 13). */
const limits: Readonly<Record<string, number>> = { ingest: 250, reconcile: 500 };

/** For each function as shipped: from the start of its process to its first request for an event. */
export async function coldStart(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { name, folder } of await bundleFunctions(join(import.meta.dirname, "../.cache/bench/cold-start"))) {
    await addRuntime(folder, { kind: "loop" });
    const times: number[] = [];
    for (let start = 0; start < starts; start++) times.push(await readyMs(folder));
    const atMost = limits[name];
    const limit = atMost === undefined ? undefined : ({ of: "median", atMost } as const);
    figures.push(figure(`cold start of ${name}, process to ready`, "ms", times, limit));
  }
  return figures;
}

/** `run`: the command that starts the process, made of its own. */
export async function readyMs(
  folder: string,
  run = (command: string, args: readonly string[]): readonly [string, readonly string[]] => [command, args],
): Promise<number> {
  const asked = Promise.withResolvers<number>();
  const api = createServer((request) => {
    if (request.url?.endsWith("/invocation/next") === true) asked.resolve(performance.now());
    else asked.reject(new Error(`the bundle in ${folder} could not be loaded`));
  });
  await once(api.listen(0, "127.0.0.1"), "listening");
  const bound = api.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : 0;
  const { command, args, taskRoot } = confine(folder, []);
  const runtime = {
    AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
    _HANDLER: "index.handler",
    LAMBDA_TASK_ROOT: taskRoot,
  };
  const env = { ...functionEnvironment, ...runtime, PATH: "/usr/local/bin:/usr/bin:/bin" };
  const startedAt = performance.now();
  const child = spawn(...run(command, args), { env, cwd: folder, stdio: "ignore", detached: true });
  try {
    return (await asked.promise) - startedAt;
  } finally {
    child.kill("SIGKILL");
    api.closeAllConnections();
    api.close();
  }
}
