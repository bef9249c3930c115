import type { Canary } from "../canary.ts";
import type { StepDeps } from "../canary-deps.ts";
import { daemonSetKind } from "./daemon-set.ts";
import { deploymentKind } from "./deployment.ts";
import { horizontalAutoscaler } from "./horizontal-autoscaler.ts";
import { knativeTarget } from "./knative-target.ts";
import { podWorkload } from "./pod-workload.ts";
import { scaledObject } from "./scaled-object.ts";
import { serviceTarget } from "./service-target.ts";
import { stepObjects } from "./step-objects.ts";
import type { Scaler, Workload } from "./workload.ts";

const knativeVersion = "serving.knative.dev/v1";

/** The target of a Canary and its primary, by the target's kind, for one step. */
export function workloadOf(canary: Canary, deps: StepDeps): Workload {
  const { apiVersion, kind } = canary.spec.targetRef;
  switch (kind) {
    case "Deployment":
      return podWorkload(deploymentKind, canary, deps);
    case "DaemonSet":
      return podWorkload(daemonSetKind, canary, deps);
    case "Service":
      return apiVersion === knativeVersion ? knativeTarget(canary, deps) : serviceTarget(canary, deps);
  }
}

/** The autoscaler that a Canary refers to, for one step; undefined without a reference. */
export function scalerOf(canary: Canary, deps: StepDeps): Scaler | undefined {
  const { autoscalerRef } = canary.spec;
  if (autoscalerRef === undefined) return undefined;
  const step = { canary, deps, objects: stepObjects(canary.namespace, deps) };
  switch (autoscalerRef.kind) {
    case "HorizontalPodAutoscaler":
      return horizontalAutoscaler(autoscalerRef, step);
    case "ScaledObject":
      return scaledObject(autoscalerRef, step);
  }
}
