import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Server as TcpServer } from "node:net";
import { afterEach, beforeEach } from "vitest";
import type { Http, HttpRequest, HttpResponse } from "../../../lib/core/ports/http.ts";
import { deadlineMs } from "../../deadline.ts";
import { pem } from "../../doubles/pem.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { never } from "../state-back-end.ts";

export type OpenHttp = () => Http & { close(): void };

export function textOf({ body }: HttpResponse): string {
  return Buffer.from(body).toString();
}

/** What was thrown, or the answer where nothing was. */
export function faultOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.catch((error: unknown) => error);
}

/** The port anew for each test of the describe block that calls this, and servers that end with the test. */
export function httpWorld(open: OpenHttp) {
  let http: ReturnType<OpenHttp>;
  let opened: AsyncDisposableStack;
  beforeEach(() => {
    opened = new AsyncDisposableStack();
    http = open();
    opened.defer(() => http.close());
  });
  afterEach(() => opened.disposeAsync());

  async function listen(server: TcpServer): Promise<string> {
    const port = await portOnLoopback(server);
    opened.defer(() => void server.close());
    return `127.0.0.1:${port}`;
  }
  return {
    /** The address of a server on loopback. */
    listen,
    /** The URL of one that answers so. */
    serve: async (answer: RequestListener): Promise<string> => {
      const server = createServer(answer);
      opened.defer(() => server.closeAllConnections());
      return `http://${await listen(server)}`;
    },
    /** With one of the certificates of `test/fixtures/tls`. */
    serveSecurely: async (certificate: string, answer: RequestListener, requestCert = false): Promise<string> => {
      const [cert, key] = await Promise.all([pem(`${certificate}.crt`), pem(`${certificate}.key`)]);
      const server = createSecureServer({ cert, key, requestCert, rejectUnauthorized: false }, answer);
      opened.defer(() => server.closeAllConnections());
      return `https://${await listen(server)}`;
    },
    send: (url: string, more: Partial<HttpRequest> = {}, signal = never): Promise<HttpResponse> =>
      http.send({ method: "GET", url, timeoutMs: deadlineMs, maxBytes: 1_000, ...more }, signal),
  };
}
