import type { CanarySpec } from "../../api/canary.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { type Canary, primaryName } from "../canary.ts";
import { StepFault } from "../step-fault.ts";
import { numberAt, objectAt, textAt } from "./fields.ts";
import { isOwnerless } from "../ownership.ts";
import type { NamedKind, StepObjects } from "./step-objects.ts";

export type AutoscalerReference = NonNullable<CanarySpec["autoscalerRef"]>;

/** Read and written in v2, whatever version the Canary names, as Flagger does. */
export const horizontalPodAutoscalerKind: NamedKind = {
  group: "autoscaling",
  version: "v2",
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers",
  noun: "HorizontalPodAutoscaler",
};

export const scaledObjectKind: NamedKind = {
  group: "keda.sh",
  version: "v1alpha1",
  kind: "ScaledObject",
  plural: "scaledobjects",
  noun: "Keda ScaledObject",
};

/** Whether an autoscaler without an owner can only be the primary's: its Canary was deleted without its objects. */
export function isLeftOfPrimary(autoscaler: LiveObject, { spec }: Canary): boolean {
  const scaled = textAt(objectAt(autoscaler, "spec", "scaleTargetRef"), "name");
  return isOwnerless(autoscaler) && scaled === primaryName(spec.targetRef.name);
}

/** The replicas below which an autoscaler never goes; undefined if it is not known. */
export async function autoscalerMinimum(
  { kind, name }: AutoscalerReference,
  objects: StepObjects,
): Promise<number | undefined> {
  const isScaledObject = kind === "ScaledObject";
  const named = isScaledObject ? scaledObjectKind : horizontalPodAutoscalerKind;
  const scaler = await objects.find(named, name).catch((error: unknown) => {
    // The autoscaler itself corrects the number as soon as it can be read.
    if (error instanceof StepFault) return undefined;
    throw error;
  });
  return numberAt(objectAt(scaler, "spec"), isScaledObject ? "minReplicaCount" : "minReplicas");
}
