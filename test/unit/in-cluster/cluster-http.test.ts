import { describe, expect, test } from "vitest";
import { type Http, HttpError, type HttpRequest } from "../../../lib/core/ports/http.ts";
import type { ServiceProxy } from "../../../lib/core/ports/service-proxy.ts";
import { type ClusterHttpRules, clusterHttp } from "../../../lib/in-cluster/cluster-http.ts";

const { signal } = new AbortController();

/** A Canary in namespace `apps` whose MetricTemplate is in `ops`. */
function world(rules: Partial<ClusterHttpRules> = {}, outside?: HttpError) {
  const sent: string[] = [];
  const http: Http = {
    async send({ url }) {
      sent.push(`outside ${url}`);
      if (outside !== undefined) throw outside;
      return { url, status: 200, headers: {}, body: Buffer.from("") };
    },
  };
  const services: ServiceProxy = {
    async send({ scheme, namespace, name, port }, { url }) {
      sent.push(`${scheme} ${namespace}/${name}:${port} ${new URL(url).pathname}${new URL(url).search}`);
      return { url, status: 200, headers: {}, body: Buffer.from("") };
    },
  };
  const setting = "canary-service-namespaces";
  const own = ["apps", "ops"] as const;
  const ask = clusterHttp(http, { services, namespaces: ["monitoring"], own, setting, ...rules });
  return async (url: string, change: Partial<HttpRequest> = {}): Promise<string | undefined> => {
    try {
      await ask.send({ method: "GET", url, timeoutMs: 1_000, maxBytes: 1_000, ...change }, signal);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      return `${error.reason}: ${error.message}`;
    }
    return sent.at(-1);
  };
}

describe("an address in a Canary", () => {
  test.each([
    ["http://prometheus:9090/api?query=a+b", "http apps/prometheus:9090 /api?query=a+b"],
    ["http://prometheus.monitoring:9090/", "http monitoring/prometheus:9090 /"],
    ["http://loadtester.ops/", "http ops/loadtester:80 /"],
    ["https://prometheus.monitoring:9091/", "https monitoring/prometheus:9091 /"],
    ["http://prometheus.monitoring.svc:9090/", "http monitoring/prometheus:9090 /"],
    ["http://prometheus.monitoring.svc.cluster.local:9090/", "http monitoring/prometheus:9090 /"],
    ["https://gate.apps.svc/", "https apps/gate:443 /"],
  ])("%s is a Service, and goes through the API server", async (url, way) => {
    expect(await world()(url)).toBe(way);
  });

  test.each([
    "https://api.datadoghq.com/api/v1/query",
    "http://localhost:9090/",
    "http://127.0.0.1:9090/",
    "http://[::1]:9090/",
    "http://example.com/hook",
    "http://other.example:8080/",
    // With https and without a port it is a host on the Internet, whatever the namespaces are called.
    "https://web.monitoring/",
    "http://a.b.monitoring:9090/",
  ])("%s is not a Service of the cluster", async (url) => {
    expect(await world()(url)).toBe(`outside ${url}`);
  });

  test("with its own proxy goes through that proxy", async () => {
    const proxy = { url: new URL("http://proxy.example.com:3128") };
    expect(await world()("http://prometheus:9090/", { proxy })).toBe("outside http://prometheus:9090/");
  });
});

describe("a Service that cannot be reached", () => {
  const off = { namespaces: [] };
  test("because of missing rights is refused by its full name, and the message names the rights", async () => {
    expect(await world()("http://gate.other.svc/a?token=t")).toBe(
      "refused: GET http://gate.other.svc/a: the installation's setting canary-service-namespaces does not list namespace other",
    );
    expect(await world(off)("http://prometheus.monitoring.svc:9090/a?token=t")).toBe(
      "refused: GET http://prometheus.monitoring.svc:9090/a: it is a Service of the cluster: add namespace monitoring to the installation's setting canary-service-namespaces, and give Sluice the right to services/proxy in it",
    );
    expect(await world({ services: undefined })("http://gate.apps.svc/")).toBe(
      "refused: GET http://gate.apps.svc/: it is a Service of the cluster: the Services of this cluster cannot be reached from here",
    );
  });

  test.each([
    ["http://prometheus:9090/", "apps", off],
    ["http://prometheus.monitoring:9090/", "monitoring", off],
    ["http://prometheus.other:9090/", "other", {}],
  ])(
    "is tried as a host by the short name %s, and the message says what may be missing",
    async (url, namespace, rules) => {
      const error = new HttpError("unreachable", "GET x: no such host");
      expect(await world(rules)(url)).toBe(`outside ${url}`);
      expect(await world(rules, error)(url)).toBe(
        `unreachable: GET x: no such host; if it is a Service of the cluster: add namespace ${namespace} to the installation's setting canary-service-namespaces, and give Sluice the right to services/proxy in it`,
      );
    },
  );
});
