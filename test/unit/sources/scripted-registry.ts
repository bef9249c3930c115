import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { afterEach, beforeEach } from "vitest";
import { digestOf } from "../../../lib/core/digest.ts";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import type { RegistryAccess } from "../../../lib/sources/oci/authorize.ts";
import { registryClients } from "../../../lib/sources/oci/registry-client.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const clock = { now: () => Date.UTC(2026, 0, 1), monotonic: () => 0, sleep: async () => undefined };

export const forever = new AbortController().signal;
export const manifest = "{}";

/** Answers with {@link manifest} and its digest. */
export const give: Answer = (_request, response) => {
  response.writeHead(200, { "docker-content-digest": digestOf(manifest), "content-type": "text/x" }).end(manifest);
};

export function refuse(status: number, headers: Record<string, string> = {}, body = ""): Answer {
  return (_request, response) => response.writeHead(status, headers).end(body);
}

/**
 * A registry for each test of the file that calls this. It answers what `answers` holds for a method and a path, with or
 * without its query, and 404 to everything else.
 */
export function scriptedRegistry() {
  let server: Server;
  let http: ReturnType<typeof httpClient>;
  const registry = {
    host: "",
    answers: {} as Record<string, Answer>,
    asked: [] as { readonly what: string; readonly authorization: string | undefined }[],
    client: (access: Partial<RegistryAccess> = {}) =>
      registryClients(http, clock)({ host: registry.host, insecure: true, ...access }),
    closeConnections: () => server.closeAllConnections(),
  };
  beforeEach(async () => {
    registry.answers = { "GET /v2/": (_request, response) => response.end("{}") };
    registry.asked = [];
    server = createServer((request, response) => {
      const what = `${request.method ?? ""} ${request.url ?? ""}`;
      registry.asked.push({ what, authorization: request.headers.authorization });
      const answer = registry.answers[what] ?? registry.answers[what.replace(/\?.*$/, "")];
      if (answer === undefined) response.writeHead(404).end();
      else answer(request, response);
    });
    registry.host = `127.0.0.1:${await portOnLoopback(server)}`;
    http = httpClient({ network: homeNetwork });
  });
  afterEach(() => {
    http.close();
    server.closeAllConnections();
    server.close();
  });
  return registry;
}
