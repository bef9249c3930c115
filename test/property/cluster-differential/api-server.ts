import type { IncomingMessage } from "node:http";
import { Agent as HttpAgent, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { Json } from "../../../lib/core/json.ts";

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  readonly accept?: string;
  readonly body?: Json;
}

export interface ApiAnswer {
  readonly status: number;
  readonly warnings: readonly string[];
  readonly body: Json;
}

/** A Kubernetes API server, real or embedded. */
export interface ApiServer {
  send(request: ApiRequest): Promise<ApiAnswer>;
  close(): void;
}

export interface Address {
  readonly url: URL;
  readonly token: string;
  readonly ca?: string | undefined;
}

export function apiServer({ url, token, ca }: Address): ApiServer {
  const isSecure = url.protocol === "https:";
  const agent = isSecure
    ? new HttpsAgent({ keepAlive: true, ...(ca === undefined ? {} : { ca }) })
    : new HttpAgent({ keepAlive: true });
  return {
    async send({ method, path, contentType = "application/json", accept = "application/json", body }) {
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      const text = body === undefined ? undefined : JSON.stringify(body);
      const request = (isSecure ? requestHttps : requestHttp)(
        new URL(path, url),
        {
          method,
          agent,
          headers: {
            authorization: `Bearer ${token}`,
            "user-agent": "vectors/1",
            accept,
            ...(text === undefined ? {} : { "content-type": contentType, "content-length": Buffer.byteLength(text) }),
          },
        },
        resolve,
      );
      request.on("error", reject);
      request.end(text);
      const response = await promise;
      const chunks: Buffer[] = [];
      for await (const chunk of response) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
      return {
        status: response.statusCode ?? 0,
        warnings: warningsOf(response.headers["warning"]),
        body: parsed(Buffer.concat(chunks).toString("utf8")),
      };
    },
    close() {
      agent.destroy();
    },
  };
}

function warningsOf(header: string | readonly string[] | undefined): readonly string[] {
  if (header === undefined) return [];
  return [header]
    .flat()
    .join(", ")
    .split(/, (?=299 - )/);
}

function parsed(text: string): Json {
  try {
    const body: Json = JSON.parse(text);
    return body;
  } catch {
    return text;
  }
}
