import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { buffer } from "node:stream/consumers";
import { pem } from "../../doubles/pem.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { comparableRequest, type GotRequest } from "./comparable-request.ts";
import { HostAnswers } from "./host-answers.ts";
import { natsHost } from "./nats-host.ts";

/** The hosts of a Provider for each type, which remember what they get. */
export interface ProviderHosts {
  /** `http://127.0.0.1:PORT` by type. */
  readonly origins: Readonly<Record<string, string>>;
  /** The requests of a type since the last look; their order is that of their texts. */
  take(type: string): readonly GotRequest[];
  /** The same without forgetting them. */
  got(type: string): readonly GotRequest[];
}

/** The types whose host the test cannot name, and which call it by TLS: certificates of `test/fixtures/tls`. */
const certificates: Readonly<Record<string, string>> = { telegram: "telegram" };

/** Starts a host for each of the types, which answers as their services do. @param open ends them */
export async function providerHosts(types: readonly string[], open: AsyncDisposableStack): Promise<ProviderHosts> {
  const requests = new Map<string, GotRequest[]>();
  const answers = new Map<string, HostAnswers>();
  const origins: Record<string, string> = {};
  for (const type of types) {
    const got: GotRequest[] = [];
    requests.set(type, got);
    const host = new HostAnswers();
    answers.set(type, host);
    const port =
      type === "nats"
        ? await natsHost((request) => void got.push(request), open)
        : await httpHost(type, (request) => void got.push(request), host, open);
    origins[type] = `http://127.0.0.1:${port}`;
  }
  const sorted = (type: string) => (requests.get(type) ?? []).toSorted((a, b) => compared(a, b));
  return {
    origins,
    got: sorted,
    take: (type) => {
      const all = sorted(type);
      requests.get(type)?.splice(0);
      answers.get(type)?.reset();
      return all;
    },
  };
}

async function httpHost(
  type: string,
  got: (request: GotRequest) => void,
  host: HostAnswers,
  open: AsyncDisposableStack,
): Promise<number> {
  const listener: RequestListener = (request, response) => {
    void buffer(request).then((body) => {
      const { method = "", url = "" } = request;
      const comparable = comparableRequest(type, request, body);
      const { status, answer } = host.to(method, url, comparable?.body);
      if (comparable !== undefined) got(comparable);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(status === 204 ? undefined : JSON.stringify(answer));
    });
  };
  const name = certificates[type];
  const server =
    name === undefined
      ? createServer(listener)
      : createSecureServer({ cert: await pem(`${name}.crt`), key: await pem(`${name}.key`) }, listener);
  open.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return await portOnLoopback(server);
}

function compared(a: GotRequest, b: GotRequest): number {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)];
  return one < other ? -1 : Number(one > other);
}
