import type { LiveObject } from "../../core/manifest.ts";
import type { Canary } from "../canary.ts";
import { annotationJson } from "../annotation-json.ts";
import { primaryName } from "../canary.ts";
import { deploymentReadiness } from "./deployment-readiness.ts";
import { inField, numberAt, objectAt, without } from "./fields.ts";
import { kubectlAnnotation } from "./metadata.ts";
import type { PodKind, ProductionReplicas, WorkloadStep } from "./pod-kind.ts";
import { keptApart } from "./primary-pods.ts";
import { autoscalerMinimum } from "./scaler-kinds.ts";
import { within } from "./step-objects.ts";

/** A target of kind Deployment, and of every kind that Flagger does not know: it takes those for one too. */
export const deploymentKind: PodKind = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  noun: "deployment",
  closing: "",
  creation: "createPrimaryDeployment",
  copiedFields: ["progressDeadlineSeconds", "minReadySeconds", "revisionHistoryLimit", "strategy"],
  check: () => {},
  replicas: (target, { isNew }, canary) => primaryReplicas(replicasOf(target), isNew, canary),
  primaryPodSpec: keptApart,
  productionReplicas,
  revisions: {
    ...{ group: "apps", version: "v1", kind: "ReplicaSet", plural: "replicasets", noun: "replicaset" },
    templateOf: (replicaSet) =>
      inField(objectAt(replicaSet, "spec", "template"), "metadata", (metadata) =>
        inField(metadata, "labels", (labels) => without(labels, ["pod-template-hash"])),
      ),
  },
  hashed: (template) => template,
  readiness: deploymentReadiness,
  scaling: (step) => ({
    isAtZero: async () => replicasOf(await step.objects.read(deploymentKind, targetOf(step).name)) === 0,
    scaleToZero: async () => {
      const { name, namespace } = targetOf(step);
      await within(`deployment ${name}.${namespace} patch query error`, scale(0, step));
    },
    scaleFromZero: () => scaleFromZero(step),
    finalize: () => finalize(step),
  }),
};

/** A target that a user scaled to 0 during a run does not take production to 0, as it does with Flagger. */
function primaryReplicas(ofTarget: number | undefined, isNew: boolean, canary: Canary): number | undefined {
  if (isNew) return Math.max(ofTarget ?? 1, 1);
  return canary.spec.autoscalerRef !== undefined || ofTarget === 0 ? undefined : ofTarget;
}

/** Up to its own replicas, those of the primary, or the least that its autoscaler allows (reference canary 7). */
async function scaleFromZero(step: WorkloadStep): Promise<void> {
  const { name, namespace } = targetOf(step);
  const own = replicasOf(await step.objects.read(deploymentKind, name)) ?? 0;
  const replicas = own > 0 ? own : await replicasToBegin(step);
  await within(`scaling up ${name}.${namespace} to ${replicas} failed`, scale(replicas, step));
}

async function replicasToBegin({ canary, objects }: WorkloadStep): Promise<number> {
  const { autoscalerRef, targetRef } = canary.spec;
  if (autoscalerRef !== undefined) return Math.max((await autoscalerMinimum(autoscalerRef, objects)) ?? 1, 1);
  return Math.max(replicasOf(await objects.read(deploymentKind, primaryName(targetRef.name))) ?? 1, 1);
}

/** At rest the target has none; its autoscaler, or the last `kubectl apply` to it, gives the number. */
async function productionReplicas(
  target: LiveObject,
  { canary: { spec }, objects }: WorkloadStep,
): Promise<ProductionReplicas> {
  const { autoscalerRef } = spec;
  const told = [
    replicasOf(target),
    autoscalerRef?.primaryScalerReplicas?.minReplicas,
    autoscalerRef === undefined ? undefined : await autoscalerMinimum(autoscalerRef, objects),
    replicasOf(annotationJson(target.metadata.annotations?.[kubectlAnnotation] ?? "")),
  ].find((count) => count !== undefined && count > 0);
  return { count: told ?? 1, isGuess: told === undefined && autoscalerRef === undefined };
}

async function finalize(step: WorkloadStep): Promise<void> {
  const { name, namespace } = targetOf(step);
  await step.objects.read(deploymentKind, name);
  const primary = await step.objects.find(deploymentKind, primaryName(name));
  if (primary === undefined) {
    await within("ScaleFromZero failed", scaleFromZero(step));
    return;
  }
  const replicas = replicasOf(primary) ?? 1;
  await within(`scale failed: scaling ${name}.${namespace} to ${replicas} failed`, scale(replicas, step));
}

/** Only the replicas, as a merge patch: fields that other writers set on the target stay. */
async function scale(replicas: number, step: WorkloadStep): Promise<void> {
  const { name } = targetOf(step);
  if (replicasOf(await step.objects.read(deploymentKind, name)) === replicas) return;
  await step.objects.merge(deploymentKind, name, { spec: { replicas } });
}

function targetOf({ canary }: WorkloadStep): { readonly name: string; readonly namespace: string } {
  return { name: canary.spec.targetRef.name, namespace: canary.namespace };
}

function replicasOf(deployment: unknown): number | undefined {
  return numberAt(objectAt(deployment, "spec"), "replicas");
}
