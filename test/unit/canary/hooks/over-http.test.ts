import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import type { CanaryWebhook } from "../../../../lib/api/canary.ts";
import { hooksOf } from "../../../../lib/canary/hooks/webhooks.ts";
import { messageOf } from "../../../../lib/core/failure.ts";
import { homeNetwork } from "../../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../../lib/http/http-client.ts";
import { closeServer } from "../../../doubles/close-server.ts";
import { portOnLoopback } from "../../../doubles/port-on-loopback.ts";
import { canaryOf, hooksWorld } from "./hooks-world.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** A webhook on this machine, and what arrived there. */
async function webhook(answer: RequestListener) {
  const arrived: Pick<IncomingMessage, "headers" | "method" | "url">[] = [];
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      arrived.push(request);
      answer(request, response);
    });
  });
  closing.push(() => closeServer(server));
  return { arrived, url: `http://127.0.0.1:${await portOnLoopback(server)}/` };
}

async function called(hook: Omit<CanaryWebhook, "name">): Promise<string> {
  const http = httpClient({ network: homeNetwork });
  closing.push(async () => http.close());
  const { deps } = hooksWorld();
  return hooksOf(canaryOf({}), { ...deps, http })
    .call({ name: "gate", ...hook }, "Progressing")
    .then(() => "passed", messageOf);
}

describe("over HTTP, a webhook", () => {
  test("canary/46: that redirects without Location fails with its body", async () => {
    const { url } = await webhook((_, response) => response.writeHead(302).end("nowhere"));
    expect(await called({ url })).toBe("nowhere");
  });

  test("that redirects to another path is followed by a GET without a body", async () => {
    const { arrived, url } = await webhook(({ method }, response) => {
      if (method === "GET") response.end();
      else response.writeHead(303, { location: "/open" }).end();
    });
    expect(await called({ url })).toBe("passed");
    expect(arrived.map(({ headers, method, url: path }) => [method, path, headers["content-type"]])).toEqual([
      ["POST", "/", "application/json"],
      ["GET", "/open", undefined],
    ]);
  });

  test("that ends the connection fails after its retries", async () => {
    const { arrived, url } = await webhook((_, response) => response.destroy());
    expect(await called({ url, retries: 1 })).toBe(`POST ${url} giving up after 2 attempt(s): Post "${url}": EOF`);
    expect(arrived).toHaveLength(2);
  });

  test("with an endless answer is not read to its end", async () => {
    const { url } = await webhook((_, response) => {
      const more = (): void => {
        if (!response.destroyed) response.write(Buffer.alloc(65_536), more);
      };
      more();
    });
    expect(await called({ url })).toBe("error reading body: the answer is longer than 1048576 bytes");
  });

  test("whose answer is cut off fails, and is not retried", async () => {
    const { arrived, url } = await webhook((_, response) => {
      response.writeHead(200, { "content-length": "100" }).write("abc", () => response.destroy());
    });
    expect(await called({ url, retries: 3 })).toBe("error reading body: unexpected EOF");
    expect(arrived).toHaveLength(1);
  });

  test("that redirects to itself is requested at most a dozen times", async () => {
    const { arrived, url } = await webhook((_, response) => response.writeHead(302, { location: "/" }).end());
    expect(await called({ url })).toBe(
      `POST ${url} giving up after 1 attempt(s): Post "${url}": stopped after 10 redirects`,
    );
    expect(arrived).toHaveLength(12);
  });

  test("uses a new connection for each call", async () => {
    const ports = new Set<number | undefined>();
    const { url } = await webhook(({ socket }, response) => {
      ports.add(socket.remotePort);
      response.end();
    });
    await called({ url });
    await called({ url });
    expect(ports.size).toBe(2);
  });
});
