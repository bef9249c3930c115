import type { Canary } from "../canary.ts";
import { canaryText } from "../canary.ts";
import type { StepDeps } from "../canary-deps.ts";
import { daemonSetKind } from "./daemon-set.ts";
import { deploymentKind } from "./deployment.ts";
import { horizontalAutoscaler } from "./horizontal-autoscaler.ts";
import { podWorkload } from "./pod-workload.ts";
import { scaledObject } from "./scaled-object.ts";
import { serviceTarget } from "./service-target.ts";
import { stepObjects } from "./step-objects.ts";
import type { Scaler, Workload } from "./workload.ts";

/** The target of a Canary, by its kind. A kind that Flagger does not know is taken for a Deployment, as there. */
export function workloadOf(canary: Canary, deps: StepDeps): Workload {
  const { kind } = canary.spec.targetRef;
  switch (kind) {
    case "DaemonSet":
      return podWorkload(daemonSetKind, canary, deps);
    case "Service":
      return serviceTarget(canary, deps);
    default:
      if (kind !== "Deployment") {
        deps.log.warn("the target of a canary has an unknown kind, a Deployment is assumed", {
          canary: canaryText(canary),
          kind,
        });
      }
      return podWorkload(deploymentKind, canary, deps);
  }
}

/** The autoscaler that a Canary refers to; undefined without a reference, or for a kind that Flagger does not know. */
export function scalerOf(canary: Canary, deps: StepDeps): Scaler | undefined {
  const { autoscalerRef } = canary.spec;
  if (autoscalerRef === undefined) return undefined;
  const step = { canary, deps, objects: stepObjects(canary.namespace, deps) };
  if (autoscalerRef.kind === "HorizontalPodAutoscaler") return horizontalAutoscaler(autoscalerRef, step);
  if (autoscalerRef.kind === "ScaledObject") return scaledObject(autoscalerRef, step);
  deps.log.error("the autoscaler of a canary has an unknown kind", {
    canary: canaryText(canary),
    kind: autoscalerRef.kind,
  });
  return undefined;
}
