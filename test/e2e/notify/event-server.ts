import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import type { ProviderType } from "../../../lib/notify/admits.ts";
import { closeServer } from "../../doubles/close-server.ts";

/** An event that a server has got. */
export interface Arrived {
  readonly path: string;
  readonly event: JsonObject;
}

/** A server on this machine that Providers send events to; `/refuses` answers 403. */
export interface EventServer extends AsyncDisposable {
  readonly arrived: readonly Arrived[];
  at(path: string): string;
}

export async function eventServer(): Promise<EventServer> {
  const arrived: Arrived[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const event: unknown = JSON.parse(Buffer.concat(parts).toString());
      if (isJsonObject(event)) arrived.push({ path: request.url ?? "", event });
      response.writeHead(request.url === "/refuses" ? 403 : 200).end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on TCP
  const { port } = server.address() as AddressInfo;
  return {
    arrived,
    at: (path) => `http://127.0.0.1:${port}${path}`,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

/** A type of Provider that sends the event as JSON to its address, and nothing else. */
export function forwarding(of: ProviderType["class"]): ProviderType {
  return {
    class: of,
    make: ({ address: url }, { http }) => ({
      async post(event, signal) {
        const body = Buffer.from(JSON.stringify(event));
        const { status } = await http.send({ method: "POST", url, body, timeoutMs: 60_000, maxBytes: 1_024 }, signal);
        if (status !== 200) throw new Error(`request failed with status code ${status}`);
      },
    }),
  };
}
