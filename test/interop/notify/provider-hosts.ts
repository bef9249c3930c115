import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { JsonObject } from "../../../lib/core/json.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

/** A request as the host of a Provider has got it, without what each HTTP client says about itself and its connection. */
export interface GotRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Parsed if it is JSON. */
  readonly body: unknown;
}

/** The hosts of a Provider for each type, which remember what they get. */
export interface ProviderHosts {
  /** `http://127.0.0.1:PORT` by type. */
  readonly origins: Readonly<Record<string, string>>;
  /** The requests of a type since the last look; their order is that of their texts. */
  take(type: string): readonly GotRequest[];
  /** The same without forgetting them. */
  got(type: string): readonly GotRequest[];
}

/** Of a connection and a client, or of no meaning to a receiver. */
const ofClients = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "host",
  "transfer-encoding",
  "user-agent",
]);

/** Starts a host for each of the types, which answers as their services do. @param open ends them */
export async function providerHosts(types: readonly string[], open: AsyncDisposableStack): Promise<ProviderHosts> {
  const requests = new Map<string, GotRequest[]>();
  const origins: Record<string, string> = {};
  for (const type of types) {
    const got: GotRequest[] = [];
    requests.set(type, got);
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        got.push(gotRequest(request, body));
        const { status, answer } = answerTo(request);
        response.writeHead(status, { "content-type": "application/json" });
        response.end(status === 204 ? undefined : JSON.stringify(answer));
      });
    });
    origins[type] = `http://127.0.0.1:${await portOnLoopback(server)}`;
    open.defer(() => {
      server.closeAllConnections();
      server.close();
    });
  }
  const sorted = (type: string) => (requests.get(type) ?? []).toSorted((a, b) => compared(a, b));
  return {
    origins,
    got: sorted,
    take: (type) => {
      const all = sorted(type);
      requests.get(type)?.splice(0);
      return all;
    },
  };
}

function gotRequest({ headers, method = "", url = "" }: IncomingMessage, body: string): GotRequest {
  const own = Object.entries(headers).filter(([name]) => !ofClients.has(name));
  return { method, path: url, headers: Object.fromEntries(own), body: parsed(body) };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return body;
  }
}

function compared(a: GotRequest, b: GotRequest): number {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)];
  return one < other ? -1 : Number(one > other);
}

/** Without a memory, so that each event meets the same host. */
function answerTo({ method, url = "" }: IncomingMessage): {
  readonly status: number;
  readonly answer: JsonObject | [];
} {
  if (url.endsWith("/api/v1/version")) return { status: 200, answer: { version: "1.22.0" } };
  if (url.endsWith("/dispatches")) return { status: 204, answer: {} };
  if (method === "GET") return { status: 200, answer: url.includes("/_apis/") ? { count: 0, value: [] } : [] };
  return { status: /statuses/.test(url) ? 201 : 200, answer: {} };
}
