import { createServer, type RequestListener } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { HttpError, type HttpRequest } from "../../../lib/core/ports/http.ts";
import { type HttpClientOptions, httpClient, refuseNone } from "../../../lib/http/http-client.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

let opened = new AsyncDisposableStack();
afterEach(async () => {
  await opened.disposeAsync();
  opened = new AsyncDisposableStack();
});

/** A server on this machine; answers its port. */
async function serve(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  const port = await portOnLoopback(server);
  opened.defer(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return port;
}

function send(url: string, options?: HttpClientOptions, more: Partial<HttpRequest> = {}) {
  const client = httpClient(options);
  opened.defer(() => client.close());
  const request = { method: "GET", url, timeoutMs: 5_000, maxBytes: 1_000, maxRedirects: 3, ...more } as const;
  return client.send(request, new AbortController().signal);
}

async function refusal(answer: Promise<unknown>): Promise<string> {
  try {
    await answer;
    return "answered";
  } catch (error) {
    return error instanceof HttpError ? `${error.kind}: ${error.message}` : String(error);
  }
}

describe("by default nothing on this machine is connected to", () => {
  test.each([
    ["127.0.0.1", "127.0.0.1 is a loopback address"],
    ["0x7f.1", "127.0.0.1 is a loopback address"],
    ["2130706433", "127.0.0.1 is a loopback address"],
    ["[::1]", "::1 is a loopback address"],
    ["[::ffff:127.0.0.1]", "::ffff:7f00:1 is a loopback address"],
    ["0", "0.0.0.0 is an unspecified address"],
  ])("http://%s", async (host, why) => {
    let asked = 0;
    const port = await serve((_, response) => {
      asked++;
      response.end();
    });
    expect(await refusal(send(`http://${host}:${port}/v2/`))).toMatch(/^refused: GET http:\/\/.*\/v2\/: /);
    expect(await refusal(send(`http://${host}:${port}/v2/`))).toContain(`: ${why}: nothing is connected to there`);
    expect(asked).toBe(0);
  });

  test("a name is judged by what it resolves to, and the error names both", async () => {
    const port = await serve((_, response) => void response.end("reached"));
    for (const scheme of ["http", "https"]) {
      const told = await refusal(send(`${scheme}://localhost:${port}/`));
      expect(told).toMatch(/^refused: .*host 'localhost' resolves to (127\.0\.0\.1|::1), which is a loopback address/);
    }
  });

  test("the credentials of the instance are out of reach", async () => {
    const url = "http://169.254.169.254/latest/meta-data/iam/security-credentials/";
    expect(await refusal(send(url))).toMatch(/^refused: .*169\.254\.169\.254 is a link-local address/);
  });
});

describe("a redirect", () => {
  test("to an address that is refused is not followed, as a number or as a name", async () => {
    let leaked = 0;
    const secret = await serve((_, response) => {
      leaked++;
      response.end("secret");
    });
    // The first server passes as one elsewhere: all of 127.0.0.0/8 is this machine, and only one of it is refused.
    const refuse = (address: string) => (address === "127.0.0.1" ? undefined : "an address for tests");
    for (const host of ["127.0.0.2", "[::1]", "[::ffff:127.0.0.3]"]) {
      const front = await serve((_, response) => {
        response.writeHead(307, { location: `http://${host}:${secret}/` }).end();
      });
      const told = await refusal(send(`http://127.0.0.1:${front}/blob`, { refuse }));
      expect(told).toMatch(/^refused: GET http:\/\/.*is an address for tests: nothing is connected to there$/);
    }
    expect(leaked).toBe(0);
    const front = await serve((_, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${secret}/` }).end();
    });
    expect((await send(`http://127.0.0.1:${front}/blob`, { refuse })).status).toBe(200);
    expect(leaked).toBe(1);
  });
});

describe("a name", () => {
  test("is resolved once for a connection, which goes to an address that was judged", async () => {
    const judged: string[] = [];
    const reached: (string | undefined)[] = [];
    const port = await serve((request, response) => {
      reached.push(request.socket.localAddress);
      response.end();
    });
    const refuse = (address: string): undefined => void judged.push(address);
    await send(`http://localhost:${port}/`, { refuse });
    expect(judged.length).toBeGreaterThan(0);
    expect(new Set(judged).size).toBe(judged.length);
    expect(judged).toContain(reached[0]);
  });

  test("that does not exist is unreachable and no refusal", async () => {
    expect(await refusal(send("http://no-such-host.invalid/"))).toMatch(/^unreachable: .*ENOTFOUND|EAI_AGAIN/);
  });
});

test("at home every address may be connected to", async () => {
  const port = await serve((_, response) => void response.end("here"));
  const { body } = await send(`http://localhost:${port}/`, { refuse: refuseNone });
  expect(new TextDecoder().decode(body)).toBe("here");
});
