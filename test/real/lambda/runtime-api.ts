import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { closeServer } from "../../doubles/close-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

const prefix = "/2018-06-01/runtime";

export type InvocationResult =
  | { readonly kind: "returned"; readonly payload: unknown }
  /** The handler threw, or the bundle could not be loaded: the report of the runtime. */
  | { readonly kind: "failed"; readonly error: unknown }
  /** The process ended or was ended; what it did before is unknown. */
  | { readonly kind: "lost"; readonly reason: string };

interface Invocation {
  readonly id: string;
  readonly event: string;
  readonly timeoutMs: number;
  readonly begins: () => void;
  readonly settle: (result: InvocationResult) => void;
}

export interface RuntimeApi {
  /** HOST:PORT, for AWS_LAMBDA_RUNTIME_API. */
  readonly address: string;
  /** `begins` is called as the process gets the event: its time runs from there, as in Lambda, where a start has a time of its own. */
  readonly invoke: (event: unknown, timeoutMs: number, begins: () => void) => Promise<InvocationResult>;
  /** Ends every invocation that has not answered, because its process has ended. */
  readonly lose: (reason: string) => void;
  readonly close: () => Promise<void>;
}

/** Lambda's runtime API for one environment: https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html */
export async function startRuntimeApi(functionArn: string): Promise<RuntimeApi> {
  const queued: Invocation[] = [];
  const running = new Map<string, Invocation>();
  let idle: ServerResponse | undefined;

  const settle = (id: string, result: InvocationResult): void => {
    running.get(id)?.settle(result);
    running.delete(id);
  };
  const settleAll = (result: InvocationResult): void => {
    for (const { settle: end } of [...queued.splice(0), ...running.values()]) end(result);
    running.clear();
    idle = undefined;
  };
  const handOut = (): void => {
    const invocation = idle === undefined ? undefined : queued.shift();
    if (idle === undefined || invocation === undefined) return;
    running.set(invocation.id, invocation);
    invocation.begins();
    // Also what our own loop does not read: Lambda's runtime crashes without the type.
    idle.setHeader("Content-Type", "application/json");
    idle.setHeader("Lambda-Runtime-Trace-Id", "Root=1-00000000-000000000000000000000000;Sampled=0");
    idle.setHeader("Lambda-Runtime-Aws-Request-Id", invocation.id);
    idle.setHeader("Lambda-Runtime-Deadline-Ms", `${Date.now() + invocation.timeoutMs}`);
    idle.setHeader("Lambda-Runtime-Invoked-Function-Arn", functionArn);
    idle.end(invocation.event);
    idle = undefined;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.slice(prefix.length) ?? "";
    if (path === "/invocation/next") {
      idle = response;
      // The request may come from a process that was killed since: an event for it would be lost.
      response.once("close", () => {
        if (idle === response) idle = undefined;
      });
      handOut();
      return;
    }
    const body: unknown = JSON.parse((await text(request)) || "null");
    const [, id = "", what = ""] = /^\/invocation\/([^/]+)\/(response|error)$/.exec(path) ?? [];
    if (path === "/init/error") settleAll({ kind: "failed", error: body });
    else if (what === "response") settle(id, { kind: "returned", payload: body });
    else if (what === "error") settle(id, { kind: "failed", error: body });
    response.writeHead(path === "/init/error" || what !== "" ? 202 : 404).end();
  };

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(400).end());
  });
  const port = await portOnLoopback(server);
  return {
    address: `127.0.0.1:${port}`,
    invoke: (event, timeoutMs, begins) =>
      new Promise((resolve) => {
        queued.push({ id: randomUUID(), event: JSON.stringify(event), timeoutMs, begins, settle: resolve });
        handOut();
      }),
    lose: (reason) => {
      settleAll({ kind: "lost", reason });
      // A last request of the process may still be on its way: the next event would be handed to a process that is gone.
      server.closeAllConnections();
    },
    close: async () => {
      settleAll({ kind: "lost", reason: "closed" });
      await closeServer(server);
    },
  };
}
