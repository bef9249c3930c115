import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { ApiDeps, ApiRequest } from "../../../lib/kube/api-client.ts";
import type { ClusterConfig } from "../../../lib/kube/cluster-config.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { closeServer } from "../../doubles/close-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

export const apiDeps: ApiDeps = { clock: systemClock, env: {} };

/** A request that any server has an answer to. */
export const readNodes: ApiRequest = { verb: "get", method: "GET", path: "/api/v1/nodes", repeatable: true };

/** A server that answers as a test wants it to. */
export interface FakeApi extends AsyncDisposable {
  readonly url: URL;
  readonly server: Server;
}

export async function fakeApi(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  tls?: ServerOptions,
): Promise<FakeApi> {
  const server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  const port = await portOnLoopback(server);
  return {
    url: new URL(`${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`),
    server,
    async [Symbol.asyncDispose]() {
      await closeServer(server);
    },
  };
}

export function configOf(server: URL, rest: Partial<ClusterConfig> = {}): ClusterConfig {
  return {
    name: "test",
    server,
    namespace: undefined,
    tls: { ca: undefined, serverName: undefined, insecure: false },
    proxy: undefined,
    user: { name: "u", certificate: undefined, token: undefined, impersonate: undefined },
    ...rest,
  };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** What aggregated discovery tells of one kind of the core group alone. */
export function sendDiscovery(
  request: IncomingMessage,
  response: ServerResponse,
  { resource, kind } = { resource: "configmaps", kind: "ConfigMap" },
): boolean {
  if (request.url !== "/api" && request.url !== "/apis") return false;
  const resources = [{ resource, scope: "Namespaced", verbs: ["get"], responseKind: { version: "v1", kind } }];
  const core = { metadata: { name: "" }, versions: [{ version: "v1", resources }] };
  sendJson(response, 200, { kind: "APIGroupDiscoveryList", items: request.url === "/api" ? [core] : [] });
  return true;
}

export function configMapOf(name: string, resourceVersion = "1") {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "n", uid: `uid-${name}`, resourceVersion },
  };
}
