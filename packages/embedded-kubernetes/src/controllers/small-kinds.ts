import type { ApiObject } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import { numberOf, objectOf, textOf } from "../core/json-fields.ts";
import { selectorMatches } from "../rules/validation/selectors.ts";
import type { Controller, Tools } from "./controller.ts";
import type { ResourceName } from "./controller-client.ts";
import {
  finalizersOf,
  isDeleting,
  isSameResource,
  metadataOf,
  nameOf,
  namespaceOf,
  sameJson,
  timestamp,
  uidOf,
  withConditions,
  withoutFinalizer,
} from "./object-facts.ts";
import { isReady, pods } from "./owned-pods.ts";
import { simulatedFault } from "./simulated-fault.ts";

export const claims = { group: "", resource: "persistentvolumeclaims" };
const volumes = { group: "", resource: "persistentvolumes" };
const budgets = { group: "policy", resource: "poddisruptionbudgets" };
const autoscalers = { group: "autoscaling", resource: "horizontalpodautoscalers" };

const kinds: readonly (readonly [ResourceName, (object: ApiObject, tools: Tools) => void])[] = [
  [claims, reconcileClaim],
  [volumes, reconcileVolume],
  [budgets, reconcileBudget],
  [autoscalers, reconcileAutoscaler],
];

/** Kinds of which only the status matters here: claims are bound, budgets counted, autoscalers content. */
export const smallKindsController: Controller = {
  name: "small-kinds",
  keysOf: (event) => {
    if (event.type === "DELETED" && !isSameResource(event, pods)) return [];
    if (isSameResource(event, pods)) return [`budgets/${namespaceOf(event.object)}/`];
    return kinds.some(([resource]) => isSameResource(event, resource))
      ? [`${event.resource}/${namespaceOf(event.object)}/${nameOf(event.object)}`]
      : [];
  },
  reconcile(key, tools) {
    const [resource = "", namespace = "", name = ""] = key.split("/");
    if (resource === "budgets") {
      const present = tools.client.list(budgets, namespace);
      const guarded = present.length === 0 ? [] : tools.client.list(pods, namespace);
      for (const budget of present) countPods(budget, guarded, tools);
      return;
    }
    for (const [kind, reconcile] of kinds) {
      const object = kind.resource === resource ? tools.client.get(kind, namespace, name) : undefined;
      if (object !== undefined) reconcile(object, tools);
    }
  },
};

function writeStatus(resource: ResourceName, object: ApiObject, status: JsonObject, { client }: Tools): void {
  if (!sameJson(status, object["status"])) client.update(resource, { ...object, status }, { subresource: "status" });
}

/** Bound at once, and not held back when it is deleted: nothing mounts it. */
function reconcileClaim(claim: ApiObject, tools: Tools): void {
  const protection = "kubernetes.io/pvc-protection";
  if (isDeleting(claim)) {
    if (finalizersOf(claim).includes(protection)) tools.client.update(claims, withoutFinalizer(claim, protection));
    return;
  }
  const fault = simulatedFault(claim).kind;
  if (fault === "never-ready" || fault === "fail") return;
  const spec = objectOf(claim, "spec") ?? {};
  if (textOf(spec, "volumeName") === "") {
    tools.client.update(claims, { ...claim, spec: { ...spec, volumeName: `pvc-${uidOf(claim)}` } });
    return;
  }
  const capacity = objectOf(objectOf(spec, "resources"), "requests") ?? {};
  writeStatus(claims, claim, { phase: "Bound", accessModes: spec["accessModes"] ?? [], capacity }, tools);
}

function reconcileVolume(volume: ApiObject, tools: Tools): void {
  const protection = "kubernetes.io/pv-protection";
  if (isDeleting(volume)) {
    if (finalizersOf(volume).includes(protection)) tools.client.update(volumes, withoutFinalizer(volume, protection));
    return;
  }
  const isClaimed = objectOf(objectOf(volume, "spec"), "claimRef") !== undefined;
  writeStatus(volumes, volume, { ...objectOf(volume, "status"), phase: isClaimed ? "Bound" : "Available" }, tools);
}

function reconcileBudget(budget: ApiObject, tools: Tools): void {
  countPods(budget, tools.client.list(pods, namespaceOf(budget)), tools);
}

function countPods(budget: ApiObject, present: readonly ApiObject[], tools: Tools): void {
  if (isDeleting(budget)) return;
  const spec = objectOf(budget, "spec") ?? {};
  const matching = present.filter(
    (pod) => !isDeleting(pod) && selectorMatches(objectOf(spec, "selector"), objectOf(metadataOf(pod), "labels")),
  );
  const expected = matching.length;
  const healthy = matching.filter(isReady).length;
  const desired = desiredHealthy(spec, expected);
  const allowed = Math.max(0, healthy - desired);
  const before = objectOf(budget, "status") ?? {};
  const generation = metadataOf(budget)["generation"] ?? 1;
  const condition = {
    type: "DisruptionAllowed",
    status: allowed > 0 ? "True" : "False",
    observedGeneration: generation,
    reason: allowed > 0 ? "SufficientPods" : "InsufficientPods",
    message: "",
  };
  writeStatus(
    budgets,
    budget,
    {
      observedGeneration: generation,
      disruptionsAllowed: allowed,
      currentHealthy: healthy,
      desiredHealthy: desired,
      expectedPods: expected,
      conditions: withConditions(before, [condition], timestamp(tools.now())),
    },
    tools,
  );
}

/** Percents are of the expected Pods, rounded up. */
function desiredHealthy(spec: JsonObject, expected: number): number {
  const amount = (value: unknown): number =>
    typeof value === "string" ? Math.ceil((Number.parseInt(value, 10) * expected) / 100) : Number(value ?? 0);
  return spec["maxUnavailable"] === undefined
    ? amount(spec["minAvailable"])
    : Math.max(0, expected - amount(spec["maxUnavailable"]));
}

/** There are no metrics, so it keeps what its target has, within its bounds. */
function reconcileAutoscaler(autoscaler: ApiObject, tools: Tools): void {
  if (isDeleting(autoscaler)) return;
  const target = objectOf(objectOf(autoscaler, "spec"), "scaleTargetRef");
  const resource = { group: "apps", resource: `${textOf(target, "kind").toLowerCase()}s` };
  const targetName = textOf(target, "name");
  const scaled = tools.client.get(resource, namespaceOf(autoscaler), targetName);
  if (scaled === undefined)
    return missTarget(autoscaler, `${resource.resource}.${resource.group} "${targetName}" not found`, tools);
  const replicas = numberOf(objectOf(scaled, "spec"), "replicas") ?? 0;
  const before = objectOf(autoscaler, "status") ?? {};
  const conditions = [
    {
      type: "AbleToScale",
      status: "True",
      reason: "SucceededGetScale",
      message: "the HPA controller was able to get the target's current scale",
    },
    {
      type: "ScalingActive",
      status: "True",
      reason: "ValidMetricFound",
      message: "the metrics are simulated: the present scale is kept",
    },
  ];
  writeStatus(
    autoscalers,
    autoscaler,
    {
      ...before,
      ...(replicas > 0 ? { currentReplicas: replicas } : {}),
      desiredReplicas: replicas,
      currentMetrics: before["currentMetrics"] ?? null,
      conditions: withConditions(before, conditions, timestamp(tools.now())),
    },
    tools,
  );
}

/** In the words of kube's controller. It looks again every 15 s, as that does. */
function missTarget(autoscaler: ApiObject, reason: string, tools: Tools): void {
  tools.again(15_000);
  const before = objectOf(autoscaler, "status") ?? {};
  const message = `the HPA controller was unable to get the target's current scale: ${reason}`;
  const conditions = [{ type: "AbleToScale", status: "False", reason: "FailedGetScale", message }];
  const status = {
    ...before,
    desiredReplicas: 0,
    currentMetrics: before["currentMetrics"] ?? null,
    conditions: withConditions(before, conditions, timestamp(tools.now())),
  };
  if (sameJson(status, before)) return;
  tools.record(autoscaler, "Warning", "FailedGetScale", reason);
  writeStatus(autoscalers, autoscaler, status, tools);
}
