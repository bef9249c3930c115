import type { Json, JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { StepFault } from "../step-fault.ts";
import { deadlineSeconds, isOver, shareOf, statusTime, thresholdPercent } from "./deployment-readiness.ts";
import { numberAt, objectAt, textAt, without } from "./fields.ts";
import type { PodKind, ReadinessTime, Role, WorkloadStep } from "./pod-kind.ts";
import { within } from "./step-objects.ts";
import type { Readiness } from "./workload.ts";

/** A node selector that no node has: a DaemonSet with it runs no pods. */
const noNode = "flagger.app/scale-to-zero";

/** A target of kind DaemonSet. It has no replicas: it is scaled down by a node selector that fits no node. */
export const daemonSetKind: PodKind = {
  group: "apps",
  version: "v1",
  kind: "DaemonSet",
  plural: "daemonsets",
  noun: "daemonset",
  // As Flagger writes it.
  closing: "'",
  creation: "createPrimaryDaemonSet",
  copiedFields: ["minReadySeconds", "revisionHistoryLimit", "updateStrategy"],
  check: checkStrategy,
  replicas: () => undefined,
  primaryPodSpec: (podSpec) => onAllNodes(podSpec),
  productionReplicas: async () => undefined,
  revisions: {
    ...{ group: "apps", version: "v1", kind: "ControllerRevision" },
    ...{ plural: "controllerrevisions", noun: "controllerrevision" },
    templateOf: (revision) => without(objectAt(revision, "data", "spec", "template"), ["$patch"]),
  },
  // Flagger hashes an empty selector if there is none.
  hashed: (template) => {
    const spec = objectAt(template, "spec");
    return { ...template, spec: { ...spec, nodeSelector: without(objectAt(spec, "nodeSelector"), [noNode]) } };
  },
  readiness: daemonSetReadiness,
  scaling: (step) => ({
    isAtZero: async () => (await selected(step)) === "true",
    scaleToZero: () => select("true", "updating daemonset", step),
    scaleFromZero: () => select(null, "scaling up daemonset", step),
    finalize: () => within("ScaleFromZero failed", select(null, "scaling up daemonset", step)),
  }),
};

function checkStrategy({ spec, metadata: { name, namespace = "" } }: LiveObject): void {
  const type = textAt(objectAt(spec, "updateStrategy"), "type");
  if (type === "" || type === "RollingUpdate") return;
  throw new StepFault(`daemonset ${name}.${namespace} must have RollingUpdate strategy but have ${type}`);
}

/** A primary that is made while the target is scaled down runs its pods all the same. */
function onAllNodes(podSpec: JsonObject): JsonObject {
  const nodeSelector = without(objectAt(podSpec, "nodeSelector"), [noNode]);
  const others = without(podSpec, ["nodeSelector"]);
  return Object.keys(nodeSelector).length === 0 ? others : { ...others, nodeSelector };
}

async function selected({ canary, objects }: WorkloadStep): Promise<Json> {
  const target = await objects.read(daemonSetKind, canary.spec.targetRef.name);
  return objectAt(target, "spec", "template", "spec", "nodeSelector")[noNode] ?? null;
}

async function select(value: "true" | null, action: string, step: WorkloadStep): Promise<void> {
  if ((await selected(step)) === value) return;
  const { canary, objects } = step;
  const { name } = canary.spec.targetRef;
  const patch = { spec: { template: { spec: { nodeSelector: { [noNode]: value } } } } };
  await within(`${action} ${name}.${canary.namespace} failed`, objects.merge(daemonSetKind, name, patch));
}

/** Whether the pods of a DaemonSet serve. The deadline counts from the last change of the status. Pure. */
function daemonSetReadiness(live: LiveObject, role: Role, { canary, clock }: ReadinessTime): Readiness {
  const fault = faultOf(live, thresholdPercent(canary, role));
  if (fault === undefined) return { isReady: true };
  const deadline = deadlineSeconds(canary);
  const isLate = fault.hasDeadline && isOver([statusTime(canary)], canary, clock.now());
  const text = isLate
    ? `exceeded its progressDeadlineSeconds: ${deadline}`
    : `waiting for rollout to finish: ${fault.text}`;
  const who = `${live.metadata.name}.${live.metadata.namespace ?? ""}`;
  const prefix =
    role === "primary"
      ? `primary daemonset ${who} not ready`
      : `canary damonset ${who} not ready with retryable ${String(!isLate)}`;
  // New nodes explain that some pods are missing, but not that all are.
  const isLost =
    role === "canary" && fault.hasDeadline && (numberAt(objectAt(live, "status"), "numberAvailable") ?? 0) === 0;
  return { isReady: false, message: `${prefix}: ${text}`, isRetriable: !isLate, ...(isLost ? { isLost } : {}) };
}

function faultOf(
  live: LiveObject,
  threshold: number,
): { readonly text: string; readonly hasDeadline: boolean } | undefined {
  const status = objectAt(live, "status");
  const count = (field: string): number => numberAt(status, field) ?? 0;
  if ((live.metadata.generation ?? 0) > count("observedGeneration")) {
    return { text: "observed daemonset generation less than desired generation", hasDeadline: false };
  }
  const [updated, desired] = [count("updatedNumberScheduled"), count("desiredNumberScheduled")];
  const [available, needed] = [count("numberAvailable"), shareOf(desired, threshold)];
  if (updated < desired) return { text: `${updated} out of ${desired} new pods have been updated`, hasDeadline: true };
  if (available >= needed) return undefined;
  const text = `${available} of ${needed} (readyThreshold ${threshold}%) updated pods are available`;
  return { text, hasDeadline: true };
}
