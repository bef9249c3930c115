import { expect, test } from "vitest";
import type { MetricTemplateSpec } from "../../../../lib/api/canary.ts";
import { maxMetricAnswerBytes } from "../../../../lib/canary/metrics/providers/ask.ts";
import { metricWorld, queryOf, vector } from "./metric-world.ts";

/** MetricTemplate of the recording canary-metric-template. */
const errors: MetricTemplateSpec = {
  provider: { type: "prometheus", address: "http://127.0.0.1:19600/prom/canary-metric-template" },
  query: `sum(rate(errors{
  name="{{ name }}", namespace="{{ namespace }}", target="{{ target }}",
  service="{{ service }}", ingress="{{ ingress }}", route="{{ route }}", team="{{ variables.team }}"
}[{{ interval }}]))`,
};

test("a template sends the query that Flagger sends, and gives Flagger's message", async () => {
  const metric = {
    ...{ name: "error rate", interval: "30s", templateRef: { name: "errors" } },
    ...{ thresholdRange: { min: 1, max: 5 }, templateVariables: { team: "web" } },
  };
  const { check, requests } = metricWorld({
    metrics: [metric],
    templates: { "apps/errors": errors },
    answers: ["5", "5.001", "0.999", "1"].map((value) => vector(value)),
  });
  const texts = [await check(), await check(), await check(), await check()];
  expect(texts).toEqual([
    "passed",
    "Halt podinfo.apps advancement error rate 5.00 > 5",
    "Halt podinfo.apps advancement error rate 1.00 < 1",
    "passed",
  ]);
  const query =
    'sum(rate(errors{ name="podinfo", namespace="apps", target="web", service="web", ingress="web", route="web", team="web" }[30s]))';
  expect(requests.map(queryOf)).toEqual([query, query, query, query]);
  expect(requests[0]).toMatchObject({ method: "GET", timeoutMs: 5_000, maxBytes: maxMetricAnswerBytes });
  expect(requests[0]?.url).toMatch(
    /^http:\/\/127\.0\.0\.1:19600\/prom\/canary-metric-template\/api\/v1\/query\?query=/,
  );
});

test("the built-in success rate sends the query that Flagger sends, and gives Flagger's message", async () => {
  const { check, requests } = metricWorld({
    metrics: [{ name: "request-success-rate", interval: "1m", thresholdRange: { min: 99 } }],
    provider: "gatewayapi:v1",
    answers: [vector("50.125")],
  });
  expect(await check()).toBe("Halt podinfo.apps advancement success rate 50.12% < 99%");
  expect(requests.map(queryOf)).toEqual([
    ' sum( rate( http_request_duration_seconds_count{ kubernetes_namespace="apps", kubernetes_pod_name=~"web-[0-9a-zA-Z]+(-[0-9a-zA-Z]+)", status!~"5.*" }[1m] ) ) / sum( rate( http_request_duration_seconds_count{ kubernetes_namespace="apps", kubernetes_pod_name=~"web-[0-9a-zA-Z]+(-[0-9a-zA-Z]+)" }[1m] ) ) * 100',
  ]);
});
