import { describe, expect, test } from "vitest";
import type { MetricTemplateSpec } from "../../../../lib/api/canary.ts";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
import { HttpError } from "../../../../lib/core/ports/http.ts";
import { metricWorld, queryOf, vector } from "./metric-world.ts";

const rate = { name: "request-success-rate", thresholdRange: { min: 99 } };
const duration = { name: "request-duration", thresholdRange: { max: 500 } };
const errors = { name: "error rate", interval: "30s", templateRef: { name: "errors" }, thresholdRange: { max: 5 } };
const prometheus: MetricTemplateSpec = {
  provider: { type: "prometheus", address: "http://prom.example.com/team" },
  query: "errors",
};
const templates = { "apps/errors": prometheus };

describe("the success rate", () => {
  test.each([
    ["canary/42: passes if it is equal to min", { min: 99 }, "99", "passed"],
    ["canary/42: halts below min", { min: 99 }, "50.125", "Halt podinfo.apps advancement success rate 50.12% < 99%"],
    ["halts above max", { max: 99.5 }, "99.75", "Halt podinfo.apps advancement success rate 99.75% > 99.5%"],
    ["has no limit on a side that the range leaves out", {}, "1", "passed"],
  ])("%s", async (_title, thresholdRange, value, text) => {
    const { check } = metricWorld({ metrics: [{ ...rate, thresholdRange }], answers: [vector(value)] });
    expect(await check()).toBe(text);
  });

  test.each([
    [99, "98.999", "Halt podinfo.apps advancement success rate 99.00% < 99%"],
    [99, "99", "passed"],
  ])("passes from the threshold on if there is no range: %s, %s", async (threshold, value, text) => {
    const metrics = [{ name: "request-success-rate", threshold }];
    expect(await metricWorld({ metrics, answers: [vector(value)] }).check()).toBe(text);
  });
});

describe("the duration of requests", () => {
  test.each([
    ["gatewayapi:v1", { max: 500 }, "1.2", "Halt podinfo.apps advancement request duration 1.2s > 500ms"],
    ["istio", { max: 500 }, "1200.9", "Halt podinfo.apps advancement request duration 1.2s > 500ms"],
    ["istio", { min: 100 }, "99.99", "Halt podinfo.apps advancement request duration 99ms < 100ms"],
    ["istio", { max: 500 }, "500.9", "passed"],
    ["istio", { max: 500.9 }, "501", "Halt podinfo.apps advancement request duration 501ms > 500ms"],
    ["istio", { max: 500 }, "+Inf", "Halt podinfo.apps advancement request duration 2562047h47m16s > 500ms"],
  ])("of provider %s is compared in whole milliseconds with %j", async (provider, thresholdRange, value, text) => {
    const metrics = [{ name: "request-duration", thresholdRange }];
    expect(await metricWorld({ metrics, provider, answers: [vector(value)] }).check()).toBe(text);
  });

  test("passes up to the threshold if there is no range", async () => {
    const { check } = metricWorld({
      metrics: [{ name: "request-duration", threshold: 100 }],
      answers: [vector("101")],
    });
    expect(await check()).toBe("Halt podinfo.apps advancement request duration 101ms > 100ms");
  });
});

describe("any other metric", () => {
  test.each([
    [{ min: 1, max: 5 }, "5", "passed"],
    [{ min: 1, max: 5 }, "5.001", "Halt podinfo.apps advancement error rate 5.00 > 5"],
    [{ min: 1, max: 5 }, "0.999", "Halt podinfo.apps advancement error rate 1.00 < 1"],
    [{ min: 1, max: 5 }, "1", "passed"],
    [{ max: 1_000_000 }, "1e7", "Halt podinfo.apps advancement error rate 10000000.00 > 1e+06"],
    [{ max: 0.00001 }, "+Inf", "Halt podinfo.apps advancement error rate +Inf > 1e-05"],
  ])("passes within its range %j, limits included: %s", async (thresholdRange, value, text) => {
    for (const metric of [errors, { name: "error rate", query: "errors" }]) {
      const { check } = metricWorld({ metrics: [{ ...metric, thresholdRange }], templates, answers: [vector(value)] });
      expect(await check()).toBe(text);
    }
  });

  test("passes up to the threshold, by default 0, if there is no range", async () => {
    const { check } = metricWorld({ metrics: [{ name: "errors", query: "errors" }], answers: [vector("0.5")] });
    expect(await check()).toBe("Halt podinfo.apps advancement errors 0.50 > 0");
  });

  test("without a query and a template cannot be checked", async () => {
    expect(await metricWorld({ metrics: [{ name: "errors" }] }).check()).toBe(
      "Metric query failed for no usable metrics template and query were configured",
    );
  });
});

describe("canary/43: no data is a failed check", () => {
  const none = { body: '{"status":"success","data":{"resultType":"vector","result":[]}}' };
  test.each([
    [
      rate,
      "gatewayapi:v1",
      "Halt advancement no values found for gatewayapi:v1 metric request-success-rate probably web.apps is not receiving traffic: no values found",
    ],
    [
      rate,
      "istio",
      "Halt advancement no values found for istio metric request-success-rate probably web.apps is not receiving traffic: running query failed: no values found",
    ],
    [
      duration,
      "kubernetes",
      "Halt advancement no values found for kubernetes metric request-duration probably web.apps is not receiving traffic",
    ],
    [{ name: "errors", query: "e" }, "istio", "Halt advancement no values found for metric: errors"],
    [errors, "istio", "Halt advancement no values found for custom metric: error rate: no values found"],
  ])("%j of provider %s", async (metric, provider, text) => {
    for (const answer of [none, vector("NaN")]) {
      expect(await metricWorld({ metrics: [metric], provider, templates, answers: [answer] }).check()).toBe(text);
    }
  });
});

describe("a metrics server that does not answer with a value", () => {
  const down = { status: 503, body: "later" };
  const why = "error response: Status 503 Service Unavailable: later";
  test.each([
    [rate, "kubernetes", `Prometheus query failed: ${why}`],
    [rate, "nginx", `Prometheus query failed: running query failed: ${why}`],
    [duration, "kubernetes", `Prometheus query failed: running query failed: ${why}`],
    [{ name: "errors", query: "e" }, "istio", `Prometheus query failed for errors: ${why}`],
    [errors, "istio", `Metric query failed for error rate: ${why}`],
  ])("%j of provider %s", async (metric, provider, text) => {
    expect(await metricWorld({ metrics: [metric], provider, templates, answers: [down] }).check()).toBe(text);
  });

  test("is reported with its client's error if there was no answer", async () => {
    const error = new HttpError("unreachable", "GET http://prom.example.com/prom/api/v1/query: connection refused");
    const { check } = metricWorld({ metrics: [{ name: "errors", query: "a b" }], answers: [{ error }] });
    expect(await check()).toBe(
      'Prometheus query failed for errors: request failed: Get "http://prom.example.com/prom/api/v1/query?query=a+b": connection refused',
    );
  });
});

test("built-in metrics and inline queries run in their order before templates, and the first failure ends the checks", async () => {
  const metrics = [errors, { name: "lag", query: "lag", threshold: 9 }, rate];
  const { check, requests, values } = metricWorld({ metrics, templates, answers: [vector("1"), vector("98")] });
  expect(await check()).toBe("Halt podinfo.apps advancement success rate 98.00% < 99%");
  expect(requests.map(queryOf)).toEqual(["lag", expect.stringContaining("istio_requests_total")]);
  expect(values).toEqual([
    ["lag", 1],
    ["request-success-rate", 98],
  ]);
});

test("the default interval is one minute for built-in metrics and inline queries, and unset for templates", async () => {
  const query = "rate(x[{{ interval }}])";
  const { check, requests } = metricWorld({
    metrics: [
      rate,
      { name: "lag", query, threshold: 100 },
      { name: "errors", templateRef: { name: "errors" }, threshold: 100 },
    ],
    templates: { "apps/errors": { ...prometheus, query } },
    answers: [vector("99")],
  });
  expect(await check()).toBe("passed");
  expect(requests.map(queryOf)).toEqual([expect.stringContaining("}[1m]"), "rate(x[1m])", "rate(x[])"]);
});

describe("the provider of built-in metrics", () => {
  test.each([
    [{}, "istio", "istio_requests_total"],
    [{ provider: "nginx" }, "istio", "nginx_ingress_controller_requests"],
    [{ provider: "nginx" }, "linkerd", "response_total"],
    [{}, "smi:crossover", "istio_requests_total"],
    [
      { provider: "kubernetes", targetRef: { apiVersion: "v1", kind: "Service", name: "web" } },
      "istio",
      "istio_requests_total",
    ],
  ])("is %j if the installation's provider is %s", async (spec, meshProvider, metric) => {
    const world = metricWorld({ metrics: [rate], spec, settings: { meshProvider }, answers: [vector("99")] });
    await world.check();
    expect(world.requests.map(queryOf)).toEqual([expect.stringContaining(metric)]);
  });

  test("for Knative queries the latest revision", async () => {
    const spec = { targetRef: { apiVersion: "serving.knative.dev/v1", kind: "Service", name: "web" } };
    const service = {
      ...{ apiVersion: "serving.knative.dev/v1", kind: "Service" },
      metadata: { name: "web", namespace: "apps", uid: "u", resourceVersion: "1" },
      status: { latestCreatedRevisionName: "web-00002" },
    };
    const options = { metrics: [rate], spec, provider: "knative", answers: [vector("99")] };
    const { check, requests } = metricWorld({ ...options, get: async () => service });
    expect(await check()).toBe("passed");
    expect(requests.map(queryOf)).toEqual([expect.stringContaining('envoy_cluster_name=~"apps/web-00002"')]);
    expect(await metricWorld({ ...options, get: async () => undefined }).check()).toBe(
      'Error fetching Knative service apps/web services.serving.knative.dev "web" not found',
    );
    const refused = async () => {
      throw new ApiError({ code: 403, reason: "Forbidden", message: "no right" });
    };
    expect(await metricWorld({ ...options, get: refused }).check()).toBe(
      "Error fetching Knative service apps/web no right",
    );
  });
});

describe("a MetricTemplate", () => {
  test("is read from the Canary's namespace unless the reference names one, and its Secret from the template's", async () => {
    const templateRef = { name: "errors", namespace: "ops" };
    const { check, requests } = metricWorld({
      metrics: [{ ...errors, templateRef }],
      templates: {
        "ops/errors": { ...prometheus, provider: { ...prometheus.provider, secretRef: { name: "login" } } },
      },
      secrets: { "ops/login": { token: "t0ken" } },
      answers: [vector("1")],
    });
    expect(await check()).toBe("passed");
    expect(requests.map(({ headers }) => headers)).toEqual([{ authorization: "Bearer t0ken" }]);
  });

  const withSecret = { ...prometheus, provider: { ...prometheus.provider, secretRef: { name: "login" } } };
  test.each([
    [{}, {}, 'Metric template errors.apps error: metrictemplate.flagger.app "errors" not found'],
    [{ "apps/errors": withSecret }, {}, 'Metric template errors.apps secret login error: secrets "login" not found'],
    [
      { "apps/errors": withSecret },
      { "apps/login": { password: "p" } },
      "Metric template errors.apps provider prometheus error: prometheus credentials does not contain a username",
    ],
    [
      { "apps/errors": { ...prometheus, provider: { type: "prometheus" } } },
      {},
      "Metric template errors.apps provider prometheus error: prometheus address  is not a valid URL",
    ],
    [
      { "apps/errors": { ...prometheus, query: "x {{ variables.team }}" } },
      {},
      'Metric template errors.apps query render error: template excution failed: template: tmpl:1:5: executing "tmpl" at <variables>: map has no entry for key "team"',
    ],
  ])("that is invalid fails with the reason: %#", async (templates_, secrets, text) => {
    const { check, requests } = metricWorld({ metrics: [errors], templates: templates_, secrets });
    expect([await check(), requests]).toEqual([text, []]);
  });

  test("canary/49: with an undefined variable fails to render, and no request is sent", async () => {
    const query = "errors{team={{ variables.team }}}";
    const metric = { ...errors, templateVariables: { other: "x" } };
    const { check, requests } = metricWorld({
      metrics: [metric],
      templates: { "apps/errors": { ...prometheus, query } },
    });
    expect(await check()).toMatch(/^Metric template errors\.apps query render error: .*no entry for key "team"$/);
    expect(requests).toEqual([]);
  });

  test("whose server returns a text that is not a number has no data", async () => {
    const provider = { type: "graphite", address: "http://graphite.example.com" };
    const { check } = metricWorld({
      metrics: [errors],
      templates: { "apps/errors": { provider, query: "target=errors" } },
      answers: [{ body: '[{"datapoints":[["NaN",1]]}]' }],
    });
    expect(await check()).toBe("Halt advancement no values found for custom metric: error rate: no values found");
  });

  test("that must not be read reports this; an outage of the cluster is not a failed check", async () => {
    const get = (code: number, reason: string) => async () => {
      throw new ApiError({ code, reason, message: `said ${reason}` });
    };
    expect(await metricWorld({ metrics: [errors], get: get(403, "Forbidden") }).check()).toBe(
      "Metric template errors.apps error: said Forbidden",
    );
    await expect(metricWorld({ metrics: [errors], get: get(0, "Unreachable") }).check()).rejects.toThrow(
      "said Unreachable",
    );
  });

  test("whose server repeats a value of the Secret does not show it", async () => {
    const { check } = metricWorld({
      metrics: [errors],
      templates: { "apps/errors": withSecret },
      secrets: { "apps/login": { username: "team", password: "hunter2" } },
      answers: [{ status: 401, body: `no hunter2, no ${Buffer.from("team:hunter2").toString("base64")}` }],
    });
    expect(await check()).toBe(
      "Metric query failed for error rate: error response: Status 401 Unauthorized: no *****, no *****",
    );
  });
});

describe("the check that all metric servers answer", () => {
  test("counts a Prometheus as online if vector(1) is 1", async () => {
    const { probe, requests } = metricWorld({ metrics: [rate, errors], templates, answers: [vector("1")] });
    expect(await probe()).toBe("online");
    expect(requests.map(({ url }) => url)).toEqual([
      "http://prom.example.com/prom/api/v1/query?query=vector%281%29",
      "http://prom.example.com/team/api/v1/query?query=vector%281%29",
    ]);
  });

  test("asks no server without metrics, or with inline queries only", async () => {
    expect(await metricWorld({ metrics: [] }).probe()).toBe("online");
    expect(await metricWorld({ metrics: [{ name: "a", query: "b" }] }).probe()).toBe("online");
  });

  test.each([
    [[rate], [vector("2")], "prometheus not avaiable: value is not 1 for query: vector(1)"],
    [
      [duration],
      [{ status: 500, body: "x" }],
      "prometheus not avaiable: running query failed: error response: Status 500 Internal Server Error: x",
    ],
    [
      [errors],
      [vector()],
      "prometheus in metric template errors.apps not avaiable: running query failed: no values found",
    ],
    [
      [{ ...errors, templateRef: { name: "gone" } }],
      [],
      'metric template gone.apps error: metrictemplate.flagger.app "gone" not found',
    ],
  ])("names a server that does not answer: %#", async (metrics, answers, text) => {
    expect(await metricWorld({ metrics, answers, templates }).probe()).toBe(text);
  });

  test.each([
    [
      "none",
      'prometheus not avaiable: running query failed: request failed: Get "/none/api/v1/query?query=vector%281%29": unsupported protocol scheme ""',
    ],
    ["http://a b", "error building Prometheus client for http://a b prometheus address http://a b is not a valid URL"],
  ])("uses the address %s", async (metricsServer, text) => {
    expect(await metricWorld({ metrics: [rate], spec: { metricsServer } }).probe()).toBe(text);
  });
});
