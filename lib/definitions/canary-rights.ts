import { declaredAlertProvider } from "../api/kinds/alert-provider.ts";
import { declaredMetricTemplate } from "../api/kinds/metric-template.ts";
import type { Right, Verb } from "./right.ts";

/** A resource whose objects are created and changed for a Canary. */
function owned(...[group, resource, made, changed = made]: readonly [string, string, string, string?]): Right {
  const verbs = [
    { verb: "get", why: `to read ${changed}` },
    { verb: "create", why: `to make ${made}` },
    { verb: "patch", why: `to change ${changed}` },
  ] as const;
  return { group, resource, verbs };
}

/** A resource whose objects are read together. */
function together(right: Right): Right {
  return { ...right, verbs: [...right.verbs, { verb: "list", why: "to read them in one request" }] };
}

/** What the sweep reads with the function's own rights. */
export const canaryTargetRights: readonly Right[] = [
  { group: "apps", resource: "deployments" },
  { group: "apps", resource: "daemonsets" },
  { group: "", resource: "services" },
].map((right) => ({
  ...right,
  verbs: [{ verb: "list", why: "to find changes of what Canaries release; only their metadata is asked for" }],
}));

/** A kind that a Canary may use instead of another one. */
function replaced(right: Right): Right {
  return {
    ...right,
    verbs: [...right.verbs, { verb: "delete", why: "when the Canary asks for another kind of route" }],
  };
}

/** A kind that the cluster does not delete with the Canary in time, or at all. */
function reverted(right: Right): Right {
  return {
    ...right,
    verbs: [...right.verbs, { verb: "delete", why: "when a Canary goes with spec.revertOnDeletion" }],
  };
}

const knativeVerbs: readonly Verb[] = [
  { verb: "get", why: "to read the target of a Canary" },
  { verb: "patch", why: "to share its requests between revisions" },
];

/** What MetricTemplates of the types keptn and externalmetrics query. */
const asked: readonly Right[] = [
  { group: "metrics.keptn.sh", resource: "keptnmetrics", verbs: [{ verb: "get", why: "for its value" }] },
  {
    group: "metrics.keptn.sh",
    resource: "analyses",
    verbs: [
      { verb: "create", why: "to have Keptn analyse something" },
      { verb: "get", why: "for the result" },
      { verb: "delete", why: "once the result is read" },
    ],
  },
  {
    group: "external.metrics.k8s.io",
    resource: "*",
    // The API server takes the values of a metric for a list: their path names no object.
    verbs: [{ verb: "list", why: "for the values of external metrics" }],
  },
];

/**
 * The rights that a step of a Canary needs in its namespace, as in Flagger. With the setting `default-service-account` it does it as
 * that account of the namespace; no function has these rights of its own, or every push would have them.
 *
 * @internal Exported for the page that lists them.
 */
export const canaryRights: readonly Right[] = [
  ...[declaredMetricTemplate, declaredAlertProvider].map(
    ({ group, plural }): Right => ({
      group,
      resource: plural,
      verbs: [{ verb: "get", why: "to read what the analysis of a Canary names" }],
    }),
  ),
  together(owned("apps", "deployments", "the primary", "target and primary")),
  together(owned("apps", "daemonsets", "the primary", "target and primary")),
  ...["replicasets", "controllerrevisions"].map(
    (resource): Right => ({
      ...{ group: "apps", resource },
      verbs: [{ verb: "list", why: "to recreate a missing primary from what was last promoted" }],
    }),
  ),
  together(owned("", "services", "the Services")),
  owned("", "configmaps", "the ConfigMaps of the primary", "the ConfigMaps of target and primary"),
  owned("", "secrets", "the Secrets of the primary", "the Secrets of target and primary"),
  owned("autoscaling", "horizontalpodautoscalers", "the scaler of the primary"),
  owned("keda.sh", "scaledobjects", "the scaler of the primary", "the scalers of target and primary"),
  replaced(owned("gateway.networking.k8s.io", "httproutes", "the route")),
  replaced(owned("gateway.networking.k8s.io", "grpcroutes", "the route")),
  owned("networking.istio.io", "virtualservices", "the route"),
  owned("networking.istio.io", "destinationrules", "the route"),
  owned("split.smi-spec.io", "trafficsplits", "the route"),
  reverted(owned("networking.k8s.io", "ingresses", "the route", "the Ingress and the route")),
  owned("projectcontour.io", "httpproxies", "the route"),
  owned("traefik.io", "traefikservices", "the route"),
  owned("apisix.apache.org", "apisixroutes", "the route", "the ApisixRoute and the route"),
  owned("gateway.solo.io", "routetables", "the route"),
  owned("gloo.solo.io", "upstreams", "the route"),
  reverted(owned("kuma.io", "trafficroutes", "the route")),
  { group: "serving.knative.dev", resource: "services", verbs: knativeVerbs },
  {
    group: "serving.knative.dev",
    resource: "revisions",
    verbs: [{ verb: "get", why: "to know whether one is ready" }],
  },
  ...asked,
];
