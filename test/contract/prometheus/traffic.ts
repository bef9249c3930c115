import { createServer } from "node:http";
import { closeServer } from "../../doubles/close-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

type Labels = Readonly<Record<string, string>>;

/** The series of one kind of proxy, as its own documentation has them: those of the canary, and of others that must not count. */
export interface ProxyMetrics {
  readonly provider: string;
  readonly requests: string;
  readonly labels: Labels;
  /** The label of the outcome, with its values for a good and a bad request. */
  readonly outcome: readonly [label: string, good: string, bad: string];
  /** A histogram, or a sum and a count; 1 in seconds, 1,000 in milliseconds. */
  readonly duration: { readonly buckets: string } | { readonly summary: string };
  readonly perSecond: 1 | 1_000;
  readonly durationLabels?: Labels;
  /** What is different in the series of the primary. */
  readonly others: Labels;
}

const pod = (name: string): Labels => ({
  kubernetes_namespace: "apps",
  kubernetes_pod_name: `${name}-6d5f8b9c7b-x2x4z`,
});
const envoy = {
  requests: "envoy_cluster_upstream_rq",
  outcome: ["envoy_response_code", "200", "503"],
  duration: { buckets: "envoy_cluster_upstream_rq_time_bucket" },
  perSecond: 1_000,
} as const;
const cluster = (name: string): Labels => ({ envoy_cluster_name: name });
const http = {
  requests: "http_request_duration_seconds_count",
  labels: pod("web"),
  outcome: ["status", "200", "500"],
  duration: { buckets: "http_request_duration_seconds_bucket" },
  perSecond: 1,
  others: pod("web-primary"),
} as const;

/** Of Deployment, Ingress and route `web` in namespace `apps`. */
export const proxies: readonly ProxyMetrics[] = [
  { provider: "gatewayapi:v1", ...http },
  { provider: "kubernetes", ...http },
  { provider: "appmesh", ...envoy, labels: pod("web"), others: pod("web-primary") },
  {
    provider: "istio",
    requests: "istio_requests_total",
    labels: { reporter: "destination", destination_workload_namespace: "apps", destination_workload: "web" },
    outcome: ["response_code", "200", "500"],
    duration: { buckets: "istio_request_duration_milliseconds_bucket" },
    perSecond: 1_000,
    others: { destination_workload: "web-primary" },
  },
  {
    provider: "linkerd",
    requests: "response_total",
    labels: { namespace: "apps", deployment: "web", direction: "inbound" },
    outcome: ["classification", "success", "failure"],
    duration: { buckets: "response_latency_ms_bucket" },
    perSecond: 1_000,
    others: { deployment: "web-primary" },
  },
  {
    provider: "nginx",
    requests: "nginx_ingress_controller_requests",
    labels: { namespace: "apps", ingress: "web", canary: "apps-web-canary-80" },
    outcome: ["status", "200", "502"],
    duration: { summary: "nginx_ingress_controller_response_duration_seconds" },
    perSecond: 1,
    others: { canary: "" },
  },
  {
    provider: "traefik",
    requests: "traefik_service_request_duration_seconds_bucket",
    labels: { service: "apps-web-canary-80@kubernetescrd" },
    outcome: ["code", "200", "500"],
    duration: { buckets: "traefik_service_request_duration_seconds_bucket" },
    perSecond: 1,
    others: { service: "apps-web-primary-80@kubernetescrd" },
  },
  {
    provider: "osm",
    requests: "osm_request_total",
    labels: { destination_namespace: "apps", destination_kind: "Deployment", destination_name: "web" },
    outcome: ["response_code", "200", "500"],
    duration: { buckets: "osm_request_duration_ms_bucket" },
    perSecond: 1_000,
    others: { destination_name: "web-primary" },
  },
  {
    provider: "skipper",
    requests: "skipper_response_duration_seconds_bucket",
    labels: { route: "kube_apps__web_canary__example_org____web_canary" },
    outcome: ["code", "200", "500"],
    duration: { summary: "skipper_serve_route_duration_seconds" },
    perSecond: 1,
    others: { route: "kube_apps__web__example_org____web_primary" },
  },
  {
    provider: "apisix",
    requests: "apisix_http_status",
    labels: { route: "apps_web-web-canary_rule" },
    outcome: ["code", "200", "500"],
    duration: { buckets: "apisix_http_latency_bucket" },
    perSecond: 1_000,
    durationLabels: { type: "request" },
    others: { route: "apps_web_rule" },
  },
  { provider: "contour", ...envoy, labels: cluster("apps_web-canary_80"), others: cluster("apps_web-primary_80") },
  { provider: "knative", ...envoy, labels: cluster("apps/web"), others: cluster("apps/web-00001") },
  {
    provider: "kuma",
    ...envoy,
    labels: { service: "web-canary_apps_svc_80" },
    others: { service: "web-primary_apps_svc_80" },
  },
  {
    provider: "gloo",
    ...envoy,
    labels: cluster("apps-web-canaryupstream-80_gloo-system"),
    others: cluster("apps-web-primaryupstream-80_gloo-system"),
  },
];

/**
 * What a Prometheus scrapes of all these proxies: with each scrape three good requests and a bad one of the canary more, each of which has
 * taken up to 100 ms, and a hundred bad and slow ones of the primary.
 */
export async function proxyMetrics(): Promise<{ readonly address: string } & AsyncDisposable> {
  let scrapes = 0;
  const server = createServer((_request, response) => {
    scrapes += 1;
    response.setHeader("content-type", "text/plain; version=0.0.4");
    response.end([...new Set(proxies.flatMap((proxy) => linesOf(proxy, scrapes)))].join("\n").concat("\n"));
  });
  const port = await portOnLoopback(server);
  return { address: `127.0.0.1:${port}`, [Symbol.asyncDispose]: () => closeServer(server) };
}

function linesOf({ requests, labels, outcome, duration, perSecond, durationLabels, others }: ProxyMetrics, n: number) {
  const [name, good, bad] = outcome;
  // The requests of some are the buckets of a histogram.
  const all = requests.endsWith("_bucket") ? { le: "+Inf" } : {};
  const primary = { ...labels, ...others };
  const count = (of: Labels, value: string, requestsOf: number): string =>
    line(requests, { ...of, ...all, [name]: value }, requestsOf);
  const isOfOutcome = "buckets" in duration && duration.buckets === requests;
  const timed = (of: Labels, value: string, sum: Pick<Durations, "fast" | "slow">): readonly string[] =>
    durations(duration, { ...of, ...durationLabels, ...(isOfOutcome ? { [name]: value } : {}) }, { ...sum, perSecond });
  return [
    count(labels, good, 3 * n),
    count(labels, bad, n),
    count(primary, bad, 100 * n),
    ...timed(labels, good, { fast: 3 * n, slow: 0 }),
    ...(isOfOutcome ? timed(labels, bad, { fast: n, slow: 0 }) : []),
    ...timed(primary, bad, { fast: 0, slow: 100 * n }),
  ];
}

interface Durations {
  readonly fast: number;
  readonly slow: number;
  readonly perSecond: number;
}

function durations(
  duration: ProxyMetrics["duration"],
  labels: Labels,
  { fast, slow, perSecond }: Durations,
): readonly string[] {
  if ("summary" in duration) {
    const sum = (fast * 0.099 + slow * 9) * perSecond;
    return [line(`${duration.summary}_sum`, labels, sum), line(`${duration.summary}_count`, labels, fast + slow)];
  }
  const bucket = (le: string, value: number): string => line(duration.buckets, { ...labels, le }, value);
  return [bucket(`${0.1 * perSecond}`, fast), bucket(`${10 * perSecond}`, fast + slow), bucket("+Inf", fast + slow)];
}

function line(name: string, labels: Labels, value: number): string {
  const texts = Object.entries(labels)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, text]) => `${key}="${text}"`);
  return `${name}{${texts.join(",")}} ${value}`;
}
