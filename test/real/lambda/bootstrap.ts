import { request } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The part of Lambda's own runtime that our handlers can observe. Bundled beside the handler. */
type Handler = (event: unknown, context: object) => Promise<unknown>;

const { AWS_LAMBDA_RUNTIME_API: address = "", LAMBDA_TASK_ROOT: root = "", _HANDLER: name = "" } = process.env;
const [host = "", port = ""] = address.split(":");
const base = "/2018-06-01/runtime";

interface Reply {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

function call(method: string, path: string, body?: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    // No agent and no time limit: an idle environment waits for its next event as long as it takes.
    const sent = request({ host, port, method, path: base + path, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () => resolve({ headers: response.headers, text })).on("error", reject);
    });
    sent.on("error", reject).end(body);
  });
}

function describe(error: unknown): string {
  const {
    name: errorType,
    message: errorMessage,
    stack = "",
  } = error instanceof Error ? error : new Error(String(error));
  return JSON.stringify({ errorType, errorMessage, trace: stack.split("\n") });
}

function isHandler(value: unknown): value is Handler {
  return typeof value === "function";
}

async function load(): Promise<Handler> {
  const [file = "", exported = ""] = name.split(".");
  const module: Readonly<Record<string, unknown>> = await import(pathToFileURL(join(root, `${file}.mjs`)).href);
  const handler = module[exported];
  if (!isHandler(handler)) throw new Error(`${name} is not a function`);
  return handler;
}

async function serve(handler: Handler): Promise<never> {
  for (;;) {
    const { headers, text } = await call("GET", "/invocation/next");
    const id = String(headers["lambda-runtime-aws-request-id"]);
    const deadlineMs = Number(headers["lambda-runtime-deadline-ms"]);
    const context = {
      awsRequestId: id,
      invokedFunctionArn: String(headers["lambda-runtime-invoked-function-arn"]),
      functionName: process.env["AWS_LAMBDA_FUNCTION_NAME"],
      memoryLimitInMB: process.env["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"],
      getRemainingTimeInMillis: () => deadlineMs - Date.now(),
    };
    try {
      const result = await handler(JSON.parse(text), context);
      await call("POST", `/invocation/${id}/response`, JSON.stringify(result ?? null));
    } catch (error) {
      await call("POST", `/invocation/${id}/error`, describe(error));
    }
  }
}

try {
  await serve(await load());
} catch (error) {
  await call("POST", "/init/error", describe(error));
  process.exitCode = 1;
}
