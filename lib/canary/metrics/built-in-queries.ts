import type { QueryModel } from "./query-model.ts";

/** The queries of Prometheus that one provider of traffic has for the built-in metrics. */
export interface BuiltInQueries {
  readonly successRate: (model: QueryModel) => string;
  readonly duration: (model: QueryModel) => string;
  /** By which a value of `duration` becomes milliseconds. */
  readonly msPerUnit: number;
  /** Flagger's words before what the server has said of the success rate. */
  readonly successRateFault: string;
}

/** The queries of a provider (reference canary 11.2); an unknown one has those of Istio. */
export function builtInQueries(provider: string): BuiltInQueries {
  const named = Object.hasOwn(byName, provider) ? byName[provider] : undefined;
  return named ?? byPrefix.find(([prefix]) => provider.startsWith(prefix))?.[1] ?? istio;
}

/** Labels of a selector; the last one of some has a comma behind it. */
type Labels = readonly string[];

// White space is as in Flagger's queries once it is collapsed.
const rate = (metric: string, labels: Labels, interval: string): string =>
  `sum( rate( ${metric}{ ${labels.join(", ")} }[${interval}] ) )`;
const share = (metric: string, good: Labels, all: Labels, { interval }: QueryModel): string =>
  ` ${rate(metric, good, interval)} / ${rate(metric, all, interval)} * 100`;
const p99 = (metric: string, labels: Labels, { interval }: QueryModel): string =>
  ` histogram_quantile( 0.99, ${rate(metric, labels, interval)} by (le) )`;

interface Source {
  readonly requests: string;
  readonly buckets: string;
  readonly labels: (model: QueryModel) => Labels;
  /** The label's value for a good request. */
  readonly good: string;
}

/** The queries for a provider with one counter, one histogram in milliseconds and the same labels on both. */
function queriesOf({ requests, buckets, labels, good }: Source, msPerUnit = 1): BuiltInQueries {
  return {
    successRate: (model) => share(requests, [...labels(model), good], labels(model), model),
    duration: (model) => p99(buckets, labels(model), model),
    msPerUnit,
    successRateFault: "running query failed: ",
  };
}

const ofPods = ({ namespace, target }: QueryModel): Labels => [
  `kubernetes_namespace="${namespace}"`,
  `kubernetes_pod_name=~"${target}-[0-9a-zA-Z]+(-[0-9a-zA-Z]+)"`,
];

const http: BuiltInQueries = {
  ...queriesOf({
    requests: "http_request_duration_seconds_count",
    buckets: "http_request_duration_seconds_bucket",
    labels: ofPods,
    good: 'status!~"5.*"',
  }),
  msPerUnit: 1_000,
  successRateFault: "",
};

const envoy = {
  requests: "envoy_cluster_upstream_rq",
  buckets: "envoy_cluster_upstream_rq_time_bucket",
  good: 'envoy_response_code!~"5.*"',
} as const;

/** Envoy's counters by one label. Flagger leaves a comma behind it where it is the last. */
function envoyQueries(labelOf: (model: QueryModel) => string): BuiltInQueries {
  return {
    ...queriesOf({ ...envoy, labels: (model) => [`${labelOf(model)},`] }),
    successRate: (model) => share(envoy.requests, [labelOf(model), envoy.good], [`${labelOf(model)},`], model),
  };
}

const istio = queriesOf({
  requests: "istio_requests_total",
  buckets: "istio_request_duration_milliseconds_bucket",
  labels: ({ namespace, target }) => [
    'reporter="destination"',
    `destination_workload_namespace="${namespace}"`,
    `destination_workload=~"${target}"`,
  ],
  good: 'response_code!~"5.*"',
});

const linkerdLabels = ({ namespace, target }: QueryModel): Labels => [
  `namespace="${namespace}"`,
  `deployment=~"${target}"`,
];
const inbound = 'direction="inbound"';
const linkerd: BuiltInQueries = {
  successRate: (model) => {
    const labels = linkerdLabels(model);
    return share("response_total", [...labels, 'classification!="failure"', inbound], [...labels, inbound], model);
  },
  duration: (model) => p99("response_latency_ms_bucket", [...linkerdLabels(model), inbound], model),
  msPerUnit: 1,
  successRateFault: "running query failed: ",
};

const nginxLabels = ({ namespace, ingress }: QueryModel): Labels => [
  `namespace="${namespace}"`,
  `ingress="${ingress}"`,
  'canary!=""',
];
const nginxSeconds = "nginx_ingress_controller_response_duration_seconds";
const nginx: BuiltInQueries = {
  ...queriesOf({
    requests: "nginx_ingress_controller_requests",
    buckets: "",
    labels: nginxLabels,
    good: 'status!~"5.*"',
  }),
  duration: (model) => {
    const mean = (metric: string): string => rate(`${nginxSeconds}_${metric}`, nginxLabels(model), model.interval);
    return ` ${mean("sum")} / ${mean("count")} * 1000`;
  },
};

const traefikLabel = ({ namespace, target }: QueryModel): string =>
  `service=~"${namespace}-${target}-canary-[0-9a-zA-Z-]+@kubernetescrd"`;
const traefikBuckets = "traefik_service_request_duration_seconds_bucket";
const traefik: BuiltInQueries = {
  successRate: (model) => {
    const label = traefikLabel(model);
    return share(traefikBuckets, [label, 'code!~"5.."', 'le="+Inf"'], [label, 'le="+Inf"'], model);
  },
  duration: (model) => `${p99(traefikBuckets, [traefikLabel(model)], model)} * 1000`,
  msPerUnit: 1,
  successRateFault: "running query failed: ",
};

const osm = queriesOf({
  requests: "osm_request_total",
  buckets: "osm_request_duration_ms_bucket",
  labels: ({ namespace, target }) => [
    `destination_namespace="${namespace}"`,
    'destination_kind="Deployment"',
    `destination_name="${target}"`,
  ],
  good: 'response_code!~"5.*"',
});

/** A route's name has an underscore for each character that is not a word character. */
function skipperRoute({ namespace, ingress, service }: QueryModel): string {
  const [inNamespace = "", ofIngress = "", ofService = ""] = [namespace, ingress, service].map((name) =>
    name.replaceAll(/\W/g, "_"),
  );
  return `route=~"kube(ew)?_${inNamespace}__${ofIngress}_canary__.*__${ofService}_canary(_[0-9]+)?"`;
}
const skipperRate = (metric: string, labels: Labels, { interval }: QueryModel): string =>
  `sum(rate(skipper_${metric}{${labels.join(",")}}[${interval}]))`;
const skipper: BuiltInQueries = {
  successRate: (model) => {
    const [route, all] = [skipperRoute(model), 'le="+Inf"'];
    const of = (labels: Labels): string => skipperRate("response_duration_seconds_bucket", labels, model);
    return ` ${of([route, 'code!~"5.."', all])} / ${of([route, all])} * 100`;
  },
  duration: (model) => {
    const of = (part: string): string =>
      skipperRate(`serve_route_duration_seconds_${part}`, [skipperRoute(model)], model);
    return ` ${of("sum")} / ${of("count")} * 1000`;
  },
  msPerUnit: 1,
  successRateFault: "running query failed: ",
};

const apisixRoute = ({ namespace, route, target }: QueryModel): string =>
  `route=~"${namespace}_${route}-${target}-canary_.+"`;
const apisix: BuiltInQueries = {
  successRate: (model) => share("apisix_http_status", [apisixRoute(model), 'code!~"5.."'], [apisixRoute(model)], model),
  duration: (model) => p99("apisix_http_latency_bucket", ['type=~"request"', apisixRoute(model)], model),
  msPerUnit: 1,
  successRateFault: "running query failed: ",
};

const byName: Readonly<Record<string, BuiltInQueries>> = {
  apisix,
  contour: envoyQueries(
    ({ namespace, service }) => `envoy_cluster_name=~"${namespace}_${service}-canary_[0-9a-zA-Z-]+"`,
  ),
  istio,
  knative: envoyQueries(({ namespace, route }) => `envoy_cluster_name=~"${namespace}/${route}"`),
  kubernetes: http,
  kuma: envoyQueries(({ namespace, target }) => `service=~"${target}-canary_${namespace}_svc_[0-9a-zA-Z-]+"`),
  linkerd,
  nginx,
  osm,
  skipper,
  traefik,
};

const byPrefix: readonly (readonly [prefix: string, queries: BuiltInQueries])[] = [
  ["appmesh", queriesOf({ ...envoy, labels: ofPods })],
  [
    "gloo",
    envoyQueries(
      ({ namespace, target }) =>
        `envoy_cluster_name=~"${namespace}-${target}-canaryupstream-[0-9a-zA-Z-]+_[0-9a-zA-Z-]+"`,
    ),
  ],
  ["gatewayapi", http],
];
