import { declaredAlertProvider } from "../api/kinds/alert-provider.ts";
import { declaredMetricTemplate } from "../api/kinds/metric-template.ts";
import type { Right, Verb } from "./right.ts";

/** A resource whose objects Flagger makes and changes for a Canary. */
function written(group: string, resource: string, made: string, changed: string): Right {
  const verbs = [
    { verb: "create", why: `to make ${made} of a Canary` },
    { verb: "patch", why: `to change ${changed} of a Canary` },
  ] as const;
  return { group, resource, verbs };
}

/** The same of a resource that is read for nothing else. */
function owned(...[group, resource, made, changed = made]: readonly [string, string, string, string?]): Right {
  const right = written(group, resource, made, changed);
  return { ...right, verbs: [{ verb: "get", why: `to read ${changed} of a Canary` }, ...right.verbs] };
}

const listed: Verb = {
  verb: "list",
  why: "to find changes of what Canaries release; only their metadata is asked for",
};

function found(right: Right): Right {
  return { ...right, verbs: [...right.verbs, listed] };
}

/**
 * What the reconcile function does for Canaries with its own rights, as Flagger does: a Canary names no service account, and changes
 * objects of its own namespace only.
 */
export const canaryRights: readonly Right[] = [
  ...[declaredMetricTemplate, declaredAlertProvider].map(
    ({ group, plural }): Right => ({
      group,
      resource: plural,
      verbs: [{ verb: "get", why: "to read what the analysis of a Canary names" }],
    }),
  ),
  found(owned("apps", "deployments", "the primary", "target and primary")),
  found(owned("apps", "daemonsets", "the primary", "target and primary")),
  found(owned("", "services", "the Services")),
  written("", "configmaps", "the ConfigMaps of the primary", "the ConfigMaps of the primary"),
  written("", "secrets", "the Secrets of the primary", "the Secrets of the primary"),
  owned("autoscaling", "horizontalpodautoscalers", "the scaler of the primary"),
  owned("keda.sh", "scaledobjects", "the scaler of the primary", "the scalers of target and primary"),
  owned("gateway.networking.k8s.io", "httproutes", "the route"),
];
