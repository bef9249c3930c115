import { createServer, type RequestListener } from "node:http";
import { isIP } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { homeNetwork, type NetworkPolicy, networkPolicy } from "../../../lib/core/network/network-policy.ts";
import { HttpError, type HttpRequest } from "../../../lib/core/ports/http.ts";
import type { Resolve } from "../../../lib/http/guarded-lookup.ts";
import { type HttpClientOptions, httpClient } from "../../../lib/http/http-client.ts";
import { deadlineMs } from "../../deadline.ts";
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

const functionsNetwork = networkPolicy({ allow: [] }, "functions");

function send(
  url: string,
  options: HttpClientOptions = { network: functionsNetwork },
  more: Partial<HttpRequest> = {},
) {
  const client = httpClient(options);
  opened.defer(() => client.close());
  const request = { method: "GET", url, timeoutMs: deadlineMs, maxBytes: 1_000, maxRedirects: 3, ...more } as const;
  return client.send(request, new AbortController().signal);
}

async function refusal(answer: Promise<unknown>): Promise<string> {
  try {
    await answer;
    return "answered";
  } catch (error) {
    return error instanceof HttpError ? `${error.reason}: ${error.message}` : String(error);
  }
}

describe("functions cannot connect to this machine", () => {
  test.each([
    ["127.0.0.1", "127.0.0.1 is a loopback address"],
    ["0x7f.1", "127.0.0.1 is a loopback address"],
    ["2130706433", "127.0.0.1 is a loopback address"],
    ["[::1]", "::1 is a loopback address"],
    ["[::ffff:127.0.0.1]", "::ffff:7f00:1 stands for 127.0.0.1, a loopback address"],
    ["0", "0.0.0.0 is an unspecified address"],
  ])("http://%s", async (host, why) => {
    let asked = 0;
    const port = await serve((_, response) => {
      asked++;
      response.end();
    });
    expect(await refusal(send(`http://${host}:${port}/v2/`))).toMatch(/^refused: GET http:\/\/.*\/v2\/: /);
    expect(await refusal(send(`http://${host}:${port}/v2/`))).toContain(`: ${why}: Sluice never connects there`);
    expect(asked).toBe(0);
  });

  test("a name is checked by its addresses, and the error has both", async () => {
    const port = await serve((_, response) => void response.end("reached"));
    for (const scheme of ["http", "https"]) {
      const told = await refusal(send(`${scheme}://localhost:${port}/`));
      expect(told).toMatch(/^refused: .*host 'localhost' resolves to (127\.0\.0\.1|::1), which is a loopback address/);
    }
  });

  test("the metadata service of the instance cannot be reached", async () => {
    const url = "http://169.254.169.254/latest/meta-data/iam/security-credentials/";
    expect(await refusal(send(url))).toMatch(/^refused: .*169\.254\.169\.254 is a link-local address/);
  });
});

test("a header with a line break is refused by its name, without its value", async () => {
  const told = await refusal(
    send("http://127.0.0.1:1/", { network: homeNetwork }, { headers: { "x-key": "hunter2\n" } }),
  );
  expect(told).toBe('protocol: GET http://127.0.0.1:1/: Invalid character in header content ["x-key"]');
});

describe("a redirect", () => {
  test("to a refused address is not followed, as a number or as a name", async () => {
    let leaked = 0;
    const secret = await serve((_, response) => {
      leaked++;
      response.end("secret");
    });
    // The first server passes as one elsewhere: all of 127.0.0.0/8 is this machine, and only one of it is refused.
    const network: NetworkPolicy = ({ address = "127.0.0.1" }) =>
      address === "127.0.0.1" ? undefined : `${address} is an address for tests`;
    for (const host of ["127.0.0.2", "[::1]", "[::ffff:127.0.0.3]"]) {
      const front = await serve((_, response) => {
        response.writeHead(307, { location: `http://${host}:${secret}/` }).end();
      });
      const told = await refusal(send(`http://127.0.0.1:${front}/blob`, { network }));
      expect(told).toMatch(/^refused: GET http:\/\/.*is an address for tests$/);
    }
    expect(leaked).toBe(0);
    const front = await serve((_, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${secret}/` }).end();
    });
    expect((await send(`http://127.0.0.1:${front}/blob`, { network })).status).toBe(200);
    expect(leaked).toBe(1);
  });
});

describe("a host name", () => {
  test("is resolved once per connection, which uses a checked address", async () => {
    const judged: string[] = [];
    const reached: (string | undefined)[] = [];
    const port = await serve((request, response) => {
      reached.push(request.socket.localAddress);
      response.end();
    });
    const network: NetworkPolicy = ({ address }) => (address === undefined ? undefined : void judged.push(address));
    await send(`http://localhost:${port}/`, { network });
    expect(judged.length).toBeGreaterThan(0);
    expect(new Set(judged).size).toBe(judged.length);
    expect(judged).toContain(reached[0]);
  });

  test("that does not exist is unreachable, not refused", async () => {
    expect(await refusal(send("http://no-such-host.invalid/"))).toMatch(
      /^unreachable: .*(dial tcp: lookup no-such-host\.invalid: no such host|EAI_AGAIN)/,
    );
  });
});

/** A resolver that gives the next of these answers each time that it is asked. */
function resolving(...answers: (readonly string[])[]): { readonly resolve: Resolve; readonly asked: string[] } {
  const asked: string[] = [];
  const resolve: Resolve = (host, _options, callback) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(host);
    callback(
      null,
      answer.map((address) => ({ address, family: isIP(address) })),
    );
  };
  return { resolve, asked };
}

describe("the addresses of a host name", () => {
  const private_ = "a private address: the installation allows it with network.allow";

  test.each([["10.0.0.7"], ["203.0.113.9", "10.0.0.7"], ["203.0.113.9", "64:ff9b::10.0.0.7"]])(
    "are checked answer by answer: %s %s",
    async (...answer) => {
      const { resolve } = resolving(answer);
      for (const scheme of ["http", "https"]) {
        const told = await refusal(send(`${scheme}://registry.test/`, { network: functionsNetwork, resolve }));
        expect(told).toMatch(/^refused: GET .*host 'registry.test' resolves to .*, which /);
        expect(told).toContain(private_);
      }
    },
  );

  test("may be private if the host is allowed with its port", async () => {
    const port = await serve((_, response) => void response.end("reached"));
    const { resolve } = resolving(["127.0.0.1"]);
    // Stands for a private address: loopback is one that functions never open.
    const network = networkPolicy({ allow: [`registry.test:${port}`], unlisted: "public" }, "home");
    expect((await send(`http://registry.test:${port}/`, { network, resolve })).status).toBe(200);
    const other = await serve((_, response) => void response.end("reached"));
    expect(await refusal(send(`http://registry.test:${other}/`, { network, resolve }))).toMatch(/^refused: /);
    expect(await refusal(send(`http://other.test:${port}/`, { network, resolve }))).toMatch(/^refused: /);
  });

  test("are checked for each connection, so that a changed answer is checked too", async () => {
    let reached = 0;
    const port = await serve((_, response) => {
      reached += 1;
      response.setHeader("connection", "close").end();
    });
    const { resolve, asked } = resolving(["127.0.0.1"], ["127.0.0.2"]);
    const network: NetworkPolicy = ({ address }) => (address === "127.0.0.2" ? "rebound" : undefined);
    const client = httpClient({ network, resolve });
    opened.defer(() => client.close());
    const request = { method: "GET", url: `http://r.test:${port}/`, timeoutMs: deadlineMs, maxBytes: 10 } as const;
    const { signal } = new AbortController();
    expect((await client.send(request, signal)).status).toBe(200);
    expect(await refusal(client.send(request, signal))).toMatch(/^refused: .*rebound/);
    expect([asked, reached]).toEqual([["r.test", "r.test"], 1]);
  });
});

test("a request that waits for a free connection is checked when it gets one", async () => {
  const port = await serve((_, response) => {
    setImmediate(() => response.setHeader("connection", "close").end("ok"));
  });
  const judged: string[] = [];
  const network: NetworkPolicy = ({ address }) => {
    if (address !== undefined) judged.push(address);
    return judged.length > 40 ? "enough" : undefined;
  };
  const client = httpClient({ network, resolve: resolving(["127.0.0.1"]).resolve });
  opened.defer(() => client.close());
  const request = { method: "GET", url: `http://r.test:${port}/`, timeoutMs: deadlineMs, maxBytes: 10 } as const;
  const { signal } = new AbortController();
  const answers = await Promise.all(Array.from({ length: 60 }, () => refusal(client.send(request, signal))));
  expect(answers.filter((answer) => answer === "answered")).toHaveLength(40);
  expect(answers.filter((answer) => /^refused: .*enough$/.test(answer))).toHaveLength(20);
});

test("a token service is checked for each request, also on a kept connection", async () => {
  const port = await serve((_, response) => void response.end("{}"));
  const { resolve } = resolving(["127.0.0.1"]);
  const network = networkPolicy({ allow: ["127.0.0.0/8"], unlisted: "public" }, "home");
  const client = httpClient({ network, resolve });
  opened.defer(() => client.close());
  const request = { method: "GET", url: `http://other.test:${port}/`, timeoutMs: deadlineMs, maxBytes: 10 } as const;
  const { signal } = new AbortController();
  expect((await client.send(request, signal)).status).toBe(200);
  const told = await refusal(client.send({ ...request, tokenServiceOf: "registry.test" }, signal));
  expect(told).toMatch(/^refused: .*registry registry.test asks to log in at another host, 'other.test'/);
});

test("in sluice local this machine's own servers are allowed, and metadata services of an instance are refused", async () => {
  const port = await serve((_, response) => void response.end("here"));
  const { body } = await send(`http://localhost:${port}/`, { network: homeNetwork });
  expect(new TextDecoder().decode(body)).toBe("here");
  expect(await refusal(send("http://169.254.169.254/", { network: homeNetwork }))).toMatch(/^refused: /);
});
