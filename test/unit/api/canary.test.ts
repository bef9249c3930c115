import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { AlertProviderSpec } from "../../../lib/api/alert-provider.ts";
import { CanarySpec, CanaryStatus } from "../../../lib/api/canary.ts";
import { MetricTemplateSpec } from "../../../lib/api/metric-template.ts";

const targetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "podinfo" };
const analysis = { interval: "1m", threshold: 5, stepWeight: 10 };
const good = { targetRef, service: { port: 9898 }, analysis };

/** `path: message` of each fault. */
function faultsOf(schema: z.ZodType, value: unknown): readonly string[] {
  return schema.safeParse(value).error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? [];
}

describe("the spec of a Canary", () => {
  test("of the field report is accepted, and its parent is a Gateway", () => {
    const gatewayRefs = [{ name: "envoy-gateway", namespace: "envoy-gateway-system" }];
    const report = {
      targetRef,
      service: { port: 9898, gatewayRefs },
      analysis: { interval: "1s", threshold: 5, maxWeight: 50, stepWeight: 10 },
      progressDeadlineSeconds: 60,
    };
    const parent = { group: "gateway.networking.k8s.io", kind: "Gateway" };
    expect(CanarySpec.parse(report)).toEqual({
      ...report,
      service: { port: 9898, gatewayRefs: gatewayRefs.map((ref) => ({ ...parent, ...ref })) },
    });
  });

  test("with all fields of a route keeps all of them", () => {
    const service = {
      name: "web",
      port: 80,
      portName: "http",
      targetPort: "http",
      appProtocol: "http",
      trafficDistribution: "PreferClose",
      portDiscovery: true,
      headless: false,
      timeout: "15s",
      backendTimeout: "10s",
      gateways: ["istio-system/public"],
      hosts: ["example.test"],
      delegation: false,
      match: [{ uri: { prefix: "/" }, headers: { "x-user": { exact: "a" } }, ignoreUriCase: true, port: 80 }],
      rewrite: { uri: "/", authority: "a", type: "ReplacePrefixMatch" },
      retries: { attempts: 3, perTryTimeout: "1s", retryOn: "5xx" },
      headers: { request: { add: { a: "b" }, set: { c: "d" }, remove: ["e"] }, response: { add: { f: "g" } } },
      mirror: [{ backendRef: { group: "", kind: "Service", name: "copy", port: 80 } }],
      corsPolicy: {
        allowOrigin: ["example.test"],
        allowOrigins: [{ exact: "a" }],
        allowMethods: ["GET"],
        maxAge: "24h",
      },
      trafficPolicy: {
        connectionPool: { http: { http1MaxPendingRequests: 10 } },
        loadBalancer: { consistentHash: { httpCookie: { name: "user", ttl: "0s" } } },
        outlierDetection: { consecutive5xxErrors: 5 },
        tls: { mode: "ISTIO_MUTUAL" },
      },
      meshName: "global",
      backends: ["a"],
      apex: { labels: { a: "b" }, annotations: { c: "d" } },
      primary: { labels: { a: "b" } },
      canary: { annotations: { c: "d" } },
      unmanagedMetadata: { labels: ["a"], annotations: ["c"] },
    };
    expect(CanarySpec.parse({ ...good, service }).service).toEqual(service);
  });

  test.each([
    ["weights by one step", { stepWeight: 10 }],
    ["weights one by one", { stepWeights: [1, 2, 10, 80] }],
    ["Blue/Green", { iterations: 10 }],
    ["an A/B test", { iterations: 10, match: [{ headers: { cookie: { suffix: "canary" } } }] }],
  ])("has one strategy: %s", (_, fields) => {
    const { stepWeight: _stepWeight, ...base } = analysis;
    expect(faultsOf(CanarySpec, { ...good, analysis: { ...base, ...fields } })).toEqual([]);
  });

  test.each([
    [{ interval: "1m", threshold: 5 }],
    [{ interval: "1m", stepWeight: 10 }],
    [{ ...analysis, iterations: 10 }],
    [{ ...analysis, stepWeights: [10] }],
  ])("is refused with no strategy, or with several: %j", (broken) => {
    expect(faultsOf(CanarySpec, { ...good, analysis: broken })).toEqual([
      "analysis: must have threshold and exactly one of iterations, stepWeight, stepWeights",
    ]);
  });

  test.each([
    ["analysis.interval", { analysis: { ...analysis, interval: "1h" } }],
    ["analysis.metrics.0.interval", { analysis: { ...analysis, metrics: [{ name: "a", interval: "60" }] } }],
    ["analysis.webhooks.0.timeout", { analysis: { ...analysis, webhooks: [{ name: "a", url: "u", timeout: "1d" }] } }],
    ["analysis.webhooks.0.type", { analysis: { ...analysis, webhooks: [{ name: "a", url: "u", type: "before" }] } }],
    [
      "analysis.alerts.0.severity",
      { analysis: { ...analysis, alerts: [{ name: "a", severity: "debug", providerRef: { name: "b" } }] } },
    ],
    ["analysis.sessionAffinity.cookieName", { analysis: { ...analysis, sessionAffinity: {} } }],
    ["analysis.match.0.headers.a", { analysis: { ...analysis, match: [{ headers: { a: {} } }] } }],
    ["service.match.0.uri", { service: { port: 80, match: [{ uri: { exact: "/", prefix: "/" } }] } }],
    ["service.mirror.0.backendRef", { service: { port: 80, mirror: [{ backendRef: { name: "a" } }] } }],
    [
      "service.trafficPolicy.loadBalancer",
      {
        service: {
          port: 80,
          trafficPolicy: { loadBalancer: { simple: "RANDOM", consistentHash: { useSourceIp: true } } },
        },
      },
    ],
    ["service.port", { service: {} }],
    ["targetRef.kind", { targetRef: { ...targetRef, kind: "StatefulSet" } }],
    ["provider", { provider: "isto" }],
  ])("is refused with a bad %s", (path, fields) => {
    const [fault = "", ...others] = faultsOf(CanarySpec, { ...good, ...fields });
    expect(fault.startsWith(`${path}: `)).toBe(true);
    expect(others).toEqual([]);
  });

  test("accepts durations with trailing text, as Flagger's definition does", () => {
    expect(faultsOf(CanarySpec, { ...good, analysis: { ...analysis, interval: "1m30s" } })).toEqual([]);
  });

  test("needs no service: Knative has none, and otherwise the API server refuses the port 0", () => {
    expect(CanarySpec.parse({ targetRef, analysis }).service).toEqual({ port: 0 });
  });
});

describe("the status of a Canary", () => {
  test("as Flagger writes it can be parsed", () => {
    const status = {
      canaryWeight: 0,
      conditions: [
        {
          lastTransitionTime: "2026-11-24T12:00:00Z",
          lastUpdateTime: "2026-11-24T12:00:00Z",
          message: "Deployment initialization completed.",
          reason: "Initialized",
          status: "True",
          type: "Promoted",
        },
      ],
      failedChecks: 0,
      iterations: -1,
      lastAppliedSpec: "5454669676",
      lastPromotedSpec: "5454669676",
      lastTransitionTime: "2026-11-24T12:00:00Z",
      phase: "WaitingPromotion",
      trackedConfigs: { "configmap/settings": "ba7d2aa0fd5cc4d7" },
    };
    expect(CanaryStatus.parse(status)).toEqual(status);
  });
});

describe("objects that a Canary refers to", () => {
  test.each([[{ type: "slack" }], [{ type: "slack", address: "https://example.test", secretRef: { name: "a" } }]])(
    "an AlertProvider needs exactly one of address and secretRef, and not %j",
    (spec) => {
      expect(faultsOf(AlertProviderSpec, spec)).toEqual([": must have exactly one of address, secretRef"]);
    },
  );

  test("an AlertProvider may have its address in a Secret", () => {
    const spec = { type: "msteams", secretRef: { name: "teams" }, channel: "general", username: "flagger" };
    expect(AlertProviderSpec.parse(spec)).toEqual(spec);
  });

  test("a MetricTemplate has a server and a query", () => {
    const provider = { type: "prometheus", address: "http://prometheus.monitoring:9090", headers: { a: ["b"] } };
    expect(MetricTemplateSpec.parse({ provider, query: "up" })).toEqual({ provider, query: "up" });
    expect(faultsOf(MetricTemplateSpec, { provider: { type: "prom" }, query: "up" })).toHaveLength(1);
    expect(faultsOf(MetricTemplateSpec, { provider })).toHaveLength(1);
  });
});
