import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { HttpError, type HttpRequest } from "../../../lib/core/ports/http.ts";
import type { ServiceAddress } from "../../../lib/core/ports/service-proxy.ts";
import { Secret } from "../../../lib/core/secret.ts";
import type { SentRequest } from "../../../lib/kube/api-client.ts";
import type { SuppliedToken } from "../../../lib/kube/cluster-config.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { maxServiceAnswerBytes } from "../../../lib/kube/service-proxy.ts";
import { apiDeps, configOf, type FakeApi, fakeApi, sendJson } from "./fake-api.ts";

const { signal } = new AbortController();
const service: ServiceAddress = { scheme: "http", namespace: "monitoring", name: "alertmanager", port: 9093 };
const below = "/api/v1/namespaces/monitoring/services/alertmanager:9093/proxy";
const message: HttpRequest = {
  method: "POST",
  url: "http://alertmanager.monitoring.svc:9093/api/v2/alerts?a=b%20c",
  headers: { "content-type": "application/json", "x-api-key": "k" },
  body: Buffer.from("[{}]"),
  timeoutMs: 60_000,
  maxBytes: 10_000_000,
};

/** Sends one request through lib/kube to this API server. */
async function sendTo(
  { url }: FakeApi,
  {
    to = service,
    observe,
    stop = signal,
    supply,
    ...change
  }: Partial<HttpRequest> & {
    readonly to?: ServiceAddress;
    readonly observe?: (sent: SentRequest) => void;
    readonly stop?: AbortSignal;
    readonly supply?: () => Promise<SuppliedToken>;
  } = {},
) {
  const config = configOf(url);
  const token =
    supply === undefined
      ? ({ kind: "token", token: new Secret("ours") } as const)
      : ({ kind: "supplied", supply } as const);
  const deps = { ...apiDeps, ...(observe === undefined ? {} : { observe }) };
  const cluster = connect({ ...config, user: { ...config.user, token } }, deps);
  try {
    return await cluster.services.send(to, { ...message, ...change }, stop);
  } finally {
    cluster.close();
  }
}

function faultOf(sent: Promise<unknown>): Promise<string> {
  return sent.then(
    () => "",
    (error: unknown) => (error instanceof HttpError ? `${error.reason}: ${error.message}` : String(error)),
  );
}

/** As an API server answers in place of a Service. */
function statusOf(code: number, reason: string, words: string, details: object = {}) {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: words, reason, details, code };
}

describe("a request to a Service", () => {
  test("is sent to its proxy with method, query, body and headers, and with Sluice's own credentials", async () => {
    const seen: { readonly request: IncomingMessage; readonly body: string }[] = [];
    await using api = await fakeApi((request, response) => {
      void text(request).then((body) => {
        seen.push({ request, body });
        response.writeHead(202, { "content-type": "text/plain", "x-one": "1" }).end("taken");
      });
    });
    const answer = await sendTo(api);
    expect(answer).toMatchObject({ url: message.url, status: 202, headers: { "x-one": "1" } });
    expect(Buffer.from(answer.body).toString()).toBe("taken");
    expect(seen.map(({ request: { method, url }, body }) => [method, url, body])).toEqual([
      ["POST", `${below}/api/v2/alerts?a=b%20c`, "[{}]"],
    ]);
    expect(seen[0]?.request.headers).toMatchObject({
      ...{ authorization: "Bearer ours", "content-type": "application/json", "x-api-key": "k", "content-length": "4" },
    });
  });

  test("by HTTPS names the scheme, and a PUT stays a PUT", async () => {
    const seen: string[] = [];
    await using api = await fakeApi((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.end();
    });
    const to = { scheme: "https", namespace: "apps", name: "hook", port: 443 } as const;
    await sendTo(api, { to, method: "PUT", url: "https://hook.apps.svc/" });
    expect(seen).toEqual(["PUT /api/v1/namespaces/apps/services/https:hook:443/proxy/"]);
  });

  test("with binary data in its body is sent unchanged", async () => {
    const sent = Buffer.from([0, 255, 128, 10]);
    await using api = await fakeApi((request, response) => {
      response.writeHead(200);
      request.pipe(response);
    });
    expect(Buffer.from((await sendTo(api, { body: sent })).body)).toEqual(sent);
  });

  test("is measured without the path at the Service, which may contain a secret", async () => {
    const observed: SentRequest[] = [];
    await using api = await fakeApi((_, response) => {
      response.end();
    });
    await sendTo(api, { observe: (sent) => observed.push(sent) });
    expect(observed).toEqual([{ verb: "create", dryRun: false, path: below, status: 200 }]);
  });

  test.each([401, 403, 404, 429, 500, 503])("that the Service answers with %d returns that answer", async (status) => {
    await using api = await fakeApi((_, response) => {
      response.writeHead(status).end("from the Service");
    });
    const answer = await sendTo(api);
    expect([answer.status, Buffer.from(answer.body).toString()]).toEqual([status, "from the Service"]);
  });

  test("that the Service redirects returns the Service's own address, which the API server had rewritten", async () => {
    let location = "";
    await using api = await fakeApi((_, response) => {
      response.writeHead(307, { location }).end();
    });
    const at = async (given: string) => {
      location = given;
      return (await sendTo(api)).headers["location"];
    };
    expect(await at(`${below}/v2?x=y`)).toBe("/v2?x=y");
    expect(await at(`${api.url.origin}${below}/v2`)).toBe("/v2");
    expect(await at("https://elsewhere.example.com/v2")).toBe("https://elsewhere.example.com/v2");
    expect(await at("/api/v1/secrets")).toBe("/api/v1/secrets");
  });
});

describe("a request that the API server does not pass on", () => {
  test.each([
    {
      what: "because of a missing right names the right",
      answer: statusOf(403, "Forbidden", 'services "alertmanager:9093" is forbidden', {
        ...{ name: "alertmanager:9093", kind: "services" },
      }),
      fault:
        'refused: POST http://alertmanager.monitoring.svc:9093/api/v2/alerts: the API server may not pass it on to Service monitoring/alertmanager: the right create on services/proxy of the name alertmanager:9093 in namespace monitoring is missing: services "alertmanager:9093" is forbidden',
    },
    {
      what: "because there is no such Service reports that",
      answer: statusOf(404, "NotFound", 'services "alertmanager" not found', {
        name: "alertmanager",
        kind: "services",
      }),
      fault:
        "refused: POST http://alertmanager.monitoring.svc:9093/api/v2/alerts: there is no Service alertmanager in namespace monitoring",
    },
    {
      what: "because no Pod is behind it is retried, with the API server's text",
      answer: statusOf(503, "ServiceUnavailable", 'no endpoints available for service "alertmanager:9093"'),
      fault:
        'unreachable: POST http://alertmanager.monitoring.svc:9093/api/v2/alerts: the API server cannot reach Service monitoring/alertmanager: no endpoints available for service "alertmanager:9093"',
    },
    {
      what: "because the cluster has no proxy reports that",
      answer: statusOf(501, "NotImplemented", "no containers"),
      fault:
        "refused: POST http://alertmanager.monitoring.svc:9093/api/v2/alerts: the API server passes nothing on to Service monitoring/alertmanager: no containers",
    },
  ])("$what", async ({ answer, fault }) => {
    await using api = await fakeApi((_, response) => sendJson(response, answer.code, answer));
    expect(await faultOf(sendTo(api))).toBe(fault);
  });

  test("names the verb of a PUT", async () => {
    const details = { name: "alertmanager:9093", kind: "services" };
    await using api = await fakeApi((_, response) =>
      sendJson(response, 403, statusOf(403, "Forbidden", "no", details)),
    );
    expect(await faultOf(sendTo(api, { method: "PUT" }))).toContain("the right update on services/proxy");
  });

  test("because it is throttled returns the answer, with the time to wait", async () => {
    await using api = await fakeApi((_, response) =>
      sendJson(response, 429, statusOf(429, "TooManyRequests", "later"), { "retry-after": "3" }),
    );
    expect(await sendTo(api)).toMatchObject({ status: 429, headers: { "retry-after": "3" } });
  });

  test("because it rejects the credentials does not count as an answer of the Service", async () => {
    await using api = await fakeApi((_, response) =>
      sendJson(response, 401, statusOf(401, "Unauthorized", "Unauthorized")),
    );
    expect(await faultOf(sendTo(api))).toContain("the API server does not take our credential: Unauthorized");
  });

  test("because the credentials have expired is sent again with new ones", async () => {
    const seen: (string | undefined)[] = [];
    await using api = await fakeApi((request, response) => {
      seen.push(request.headers.authorization);
      if (seen.length === 1) return sendJson(response, 401, statusOf(401, "Unauthorized", "Unauthorized"));
      response.end("taken");
    });
    const tokens = ["old", "new"];
    const supply = async () => ({ token: new Secret(tokens.shift() ?? ""), renewAt: Infinity });
    expect(await sendTo(api, { supply })).toMatchObject({ status: 200 });
    expect(seen).toEqual(["Bearer old", "Bearer new"]);
  });

  test("because the API server does not answer reports that", async () => {
    const api = await fakeApi(() => {});
    await api[Symbol.asyncDispose]();
    expect(await faultOf(sendTo(api))).toMatch(/^unreachable: POST .*: the cluster at .* cannot be reached/);
  });
});

describe("an answer of a Service", () => {
  test("that is longer than 1 MiB is refused, even if the request allows more", async () => {
    await using api = await fakeApi((request, response) => {
      response.end(Buffer.alloc(maxServiceAnswerBytes + (request.headers["x-api-key"] === "k" ? 1 : 0)));
    });
    expect(await faultOf(sendTo(api))).toContain(`the answer is longer than ${maxServiceAnswerBytes} bytes`);
    expect((await sendTo(api, { headers: {} })).body).toHaveLength(maxServiceAnswerBytes);
  });

  test("that does not come ends with the reason of the signal", async () => {
    const stop = new AbortController();
    await using api = await fakeApi((_, response) => {
      response.writeHead(200).write("begins");
      stop.abort(new Error("time is up"));
    });
    await expect(sendTo(api, { stop: stop.signal })).rejects.toThrow("time is up");
  });
});
