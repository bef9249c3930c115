import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { builtInQueries } from "../../lib/canary/metrics/built-in-queries.ts";
import { homeNetwork } from "../../lib/core/network/network-policy.ts";
import { httpClient } from "../../lib/http/http-client.ts";
import { withinDeadline } from "../deadline.ts";
import { ask } from "../real/ask.ts";
import { scrapedBy } from "../real/scraped-by.ts";
import { type MetricWorldOptions, metricWorld } from "../unit/canary/metrics/metric-world.ts";
import { type Answered, answered } from "./prometheus/answers.ts";
import { proxies, proxyMetrics } from "./prometheus/traffic.ts";

const url = process.env["SLUICE_REAL_PROMETHEUS_URL"];
const needs = "set SLUICE_REAL_PROMETHEUS_URL";
const secretRef = { name: "login" };

/** A query of a MetricTemplate: its value, or why it has none. */
async function valueOf(
  query: string,
  provider: { readonly address: string; readonly insecureSkipVerify?: boolean },
  { secret, ...options }: Pick<MetricWorldOptions, "answers" | "parts"> & { readonly secret?: Record<string, string> },
): Promise<number | string> {
  const login = secret === undefined ? {} : { secretRef };
  const { check, values } = metricWorld({
    metrics: [{ name: "errors", templateRef: { name: "errors" }, thresholdRange: {} }],
    templates: { "apps/errors": { provider: { type: "prometheus", ...provider, ...login }, query } },
    secrets: secret === undefined ? {} : { "apps/login": secret },
    ...options,
  });
  const text = await check();
  const why = text.replace(
    /^(?:Metric query failed for|Halt advancement no values found for custom metric:) errors: /,
    "",
  );
  return values[0]?.[1] ?? why;
}

/** What Sluice makes of the answers to these queries. */
function answers(name: string, ask: (one: Answered) => Promise<number | string>): void {
  describe(`Sluice reads the answers of ${name}`, () => {
    test.each(answered)("$what", async (one) => {
      const value = await ask(one);
      expect(value).toEqual(one.value);
    });
  });
}

answers("the stand-in", ({ query, answer }) => valueOf(query, { address: "http://prom.test" }, { answers: [answer] }));

describe.skipIf(url === undefined)(`a real Prometheus (${needs})`, () => {
  const address = url ?? "";
  const http = httpClient({ network: homeNetwork });
  afterAll(() => http.close());

  answers("the real Prometheus", ({ query }) => valueOf(query, { address }, { parts: { http } }));

  describe("the stand-in gives the same answers as the real Prometheus", () => {
    test.each(answered)("$what", async ({ answer: { status = 200, body }, query }) => {
      const real = await ask(`${address}/api/v1/query?query=${encodeURIComponent(query)}`);
      expect(real?.status).toBe(status);
      expect(shapeOf(real?.text)).toEqual(shapeOf(body));
    });
  });

  describe("the built-in queries on the metrics of each proxy", () => {
    const open = new AsyncDisposableStack();
    beforeAll(async () => {
      const { address: target } = open.use(await proxyMetrics());
      open.use(await scrapedBy(process.env["SLUICE_REAL_PROMETHEUS_TARGETS"] ?? "", target));
      // A rate needs two scrapes.
      await vi.waitUntil(async () => {
        const value = await valueOf(successRateOf("istio"), { address }, { parts: { http } });
        return typeof value === "number";
      }, withinDeadline);
    });
    afterAll(() => open.disposeAsync());

    test.each(proxies)("$provider: three of four requests of the canary are good", async ({ provider }) => {
      const value = await valueOf(successRateOf(provider), { address }, { parts: { http } });
      expect(value).toBeCloseTo(75, 6);
    });

    test.each(proxies)("$provider: a request of the canary takes 99 ms", async ({ provider }) => {
      const { duration, msPerUnit } = builtInQueries(provider);
      const value = await valueOf(duration(model), { address }, { parts: { http } });
      expect(Number(value) * msPerUnit).toBeCloseTo(99, 6);
    });
  });

  describe("a Prometheus with TLS and an account", () => {
    const closed = process.env["SLUICE_REAL_PROMETHEUS_TLS_URL"] ?? "";
    const user = {
      username: process.env["SLUICE_REAL_PROMETHEUS_TLS_USERNAME"] ?? "",
      password: process.env["SLUICE_REAL_PROMETHEUS_TLS_PASSWORD"] ?? "",
    };
    const insecure = { address: closed, insecureSkipVerify: true };

    test("accepts the login of the template's Secret", async () => {
      expect(await valueOf("vector(1)", insecure, { parts: { http }, secret: user })).toBe(1);
    });

    test("accepts the login of the address", async () => {
      const withLogin = closed.replace("://", `://${user.username}:${user.password}@`);
      const provider = { ...insecure, address: withLogin };
      expect(await valueOf("vector(1)", provider, { parts: { http } })).toBe(1);
    });

    test.each([
      ["without a login", undefined],
      ["with another password", { ...user, password: "another" }],
      ["with a token", { token: "t" }],
    ])("refuses a query %s, and the check fails", async (_how, secret) => {
      const value = await valueOf("vector(1)", insecure, { parts: { http }, ...(secret && { secret }) });
      expect(value).toBe("error response: Status 401 Unauthorized: Unauthorized\n");
    });

    test("is not queried if its certificate is untrusted", async () => {
      const value = await valueOf("vector(1)", { address: closed }, { parts: { http }, secret: user });
      expect(value).toMatch(/^request failed: Get "https:.*": .*certificate/);
    });
  });

  test("a Prometheus that is still starting fails the check with its status 503", async () => {
    const starting = { address: process.env["SLUICE_REAL_PROMETHEUS_STARTING"] ?? "" };
    const value = await valueOf("vector(1)", starting, { parts: { http } });
    expect(value).toBe("error response: Status 503 Service Unavailable: Service Unavailable");
  });
});

const model = {
  ...{ name: "web", namespace: "apps", target: "web", service: "web", ingress: "web", route: "web" },
  ...{ interval: "1m", variables: {} },
};

function successRateOf(provider: string): string {
  return builtInQueries(provider).successRate(model);
}

const Body = z.object({
  status: z.string(),
  errorType: z.string().optional(),
  data: z.object({ resultType: z.string(), result: z.unknown() }).optional(),
});

/** Without moments, labels and the words of errors, which are tested above. */
function shapeOf(text = ""): unknown {
  const { data, ...rest } = Body.parse(JSON.parse(text));
  const result = JSON.stringify(data?.result ?? null)
    .replaceAll(/\[\d+(?:\.\d+)?,"/g, '[0,"')
    .replaceAll(/"metric":\{[^}]*\}/g, '"metric":{}');
  return { ...rest, resultType: data?.resultType, result };
}
