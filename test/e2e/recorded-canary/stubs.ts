import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { text } from "node:stream/consumers";
import type { JsonObject } from "../../../lib/core/json.ts";
import { closeServer } from "../../doubles/close-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import type { Answer, Rule } from "./recording.ts";

/** What the recorder's Canaries asked: Prometheus, webhooks and chats, each scenario under its own paths. */
export interface Stubs extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** From now on the webhook answers so; before, with 200 and no body. */
  answerHook(scenario: string, hook: string, answer: Answer): void;
  /** From now on these rules count; before, `vector(1)` is 1 and everything else 100. */
  answerQueries(scenario: string, rules: readonly Rule[]): void;
  /** The requests since they were last forgotten, as the recordings show them. */
  requests(scenario: string): readonly JsonObject[];
  forget(scenario: string): void;
}

export async function stubs(): Promise<Stubs> {
  const hooks = new Map<string, Answer>();
  const rules = new Map<string, readonly Rule[]>();
  const requests = new Map<string, JsonObject[]>();

  const answerOf = (path: string, scenario: string, query: string | undefined): Answer => {
    if (query === undefined) return hooks.get(path) ?? { status: 200 };
    return answerToQuery(query, rules.get(scenario) ?? []);
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const { pathname, searchParams } = new URL(request.url ?? "", "http://stub.test");
    const scenario = pathname.split("/")[2] ?? "";
    const query = pathname.startsWith("/prom/") ? (searchParams.get("query") ?? "") : undefined;
    const { delay = 0, destroy = false, ...answer } = answerOf(pathname, scenario, query);
    requests.set(scenario, [
      ...(requests.get(scenario) ?? []),
      {
        ...{ method: request.method ?? "", path: pathname },
        ...(query === undefined ? {} : { query }),
        ...shownHeaders(request),
        ...(body === "" ? {} : { body: JSON.parse(body) }),
        ...(destroy ? {} : { answer }),
      },
    ]);
    if (delay > 0) await sleep(delay * 1_000);
    if (destroy) request.socket.destroy();
    else response.writeHead(answer.status ?? 200).end(answer.body);
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const port = await portOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    answerHook(scenario, hook, answer) {
      const { body, ...rest } = answer;
      hooks.set(`/hook/${scenario}/${hook}`, body === undefined || body === "" ? rest : answer);
    },
    answerQueries(scenario, some) {
      rules.set(scenario, some);
    },
    requests: (scenario) => requests.get(scenario) ?? [],
    forget(scenario) {
      requests.delete(scenario);
    },
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

function answerToQuery(query: string, rules: readonly Rule[]): Answer {
  const rule = rules.find(({ match }) => query.includes(match));
  if (rule?.answer !== undefined) return rule.answer;
  const value = rule?.value ?? (query === "vector(1)" ? "1" : "100");
  const result = rule?.result ?? [{ metric: {}, value: [1_767_225_600, value] }];
  return { status: 200, body: JSON.stringify({ status: "success", data: { resultType: "vector", result } }) };
}

function shownHeaders({ headers }: IncomingMessage): JsonObject {
  const type = headers["content-type"];
  return type === undefined ? {} : { headers: { "content-type": type } };
}
