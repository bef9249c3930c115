import type { JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { mergePatch } from "../../core/merge-patch.ts";
import { canaryText, primaryName } from "../canary.ts";
import { inItems, objectAt, textAt } from "./fields.ts";
import { included, withoutFlux } from "./metadata.ts";
import type { WorkloadStep } from "./pod-kind.ts";
import { type AutoscalerReference, isLeftOfPrimary, scaledObjectKind } from "./scaler-kinds.ts";
import { within } from "./step-objects.ts";
import { adoption, controllerReference, refuseForeign } from "../ownership.ts";
import type { Scaler } from "./workload.ts";

const kind = scaledObjectKind;

/** KEDA keeps the replicas at its value while it is there. */
const pausedAnnotation = "autoscaling.keda.sh/paused-replicas";

/** A ScaledObject of KEDA. That of the target is paused at 0 while no run uses it. */
export function scaledObject(reference: AutoscalerReference, step: WorkloadStep): Scaler {
  return {
    ensurePrimary: (isFirst) => ensurePrimary(reference, isFirst, step),
    pauseTarget: () => pause("0", reference, step),
    resumeTarget: () => resume(reference, step),
  };
}

async function ensurePrimary(reference: AutoscalerReference, isFirst: boolean, step: WorkloadStep): Promise<void> {
  const { canary, deps, objects } = step;
  const own = await objects.read(kind, reference.name);
  const name = primaryName(reference.name);
  const wanted = primarySpec(own, reference, canary.spec.targetRef.name);
  const primary = await objects.find(kind, name);
  if (primary === undefined) {
    const { labels = {}, annotations = {} } = own.metadata;
    const metadata = {
      name,
      namespace: canary.namespace,
      labels: withoutFlux(labels),
      // All but the pause: a primary that is recreated while the target rests must not rest too.
      annotations: withoutFlux(textsWithoutPause(annotations)),
      ownerReferences: [controllerReference(canary)],
    };
    const manifest = { apiVersion: own.apiVersion, kind: kind.kind, metadata, spec: wanted };
    await within(`creating Keda ScaledObject ${name}.${canary.namespace} failed`, objects.create(kind, manifest));
    deps.log.info("the autoscaler of a primary is created", {
      canary: canaryText(canary),
      object: `${kind.kind}/${name}`,
    });
    return;
  }
  if (isLeftOfPrimary(primary, canary)) {
    const text = `updating ScaledObject ${name}.${canary.namespace} failed`;
    await within(text, objects.merge(kind, name, adoption(primary, canary)));
  } else {
    refuseForeign(primary, canary, "take autoscalerRef out of the Canary");
  }
  if (!isFirst) await update(primary, wanted, step);
}

/** With the limits, Flagger cuts labels and annotations to those that are included. */
async function update(primary: LiveObject, wanted: JsonObject, { canary, deps, objects }: WorkloadStep): Promise<void> {
  const { name, labels = {}, annotations = {} } = primary.metadata;
  const spec = mergePatch(objectAt(primary, "spec"), wanted);
  if (spec === undefined) return;
  const prefixes = deps.settings.includeLabelPrefixes;
  const metadata = mergePatch(
    { labels, annotations },
    { labels: included(labels, prefixes), annotations: included(annotations, prefixes) },
  );
  const patch = { ...(metadata === undefined ? {} : { metadata }), spec };
  await within(`updating ScaledObject ${name}.${canary.namespace} failed`, objects.merge(kind, name, patch));
}

/** The whole spec, also fields of newer versions of KEDA that Flagger drops. */
function primarySpec(own: LiveObject, reference: AutoscalerReference, target: string): JsonObject {
  const { primaryScalerReplicas: { minReplicas, maxReplicas } = {} } = reference;
  const spec = inItems(objectAt(own, "spec"), "triggers", (trigger) => primaryTrigger(trigger, reference, target));
  const autoscaler = objectAt(spec, "advanced", "horizontalPodAutoscalerConfig");
  const autoscalerName = textAt(autoscaler, "name");
  return {
    ...spec,
    scaleTargetRef: { ...objectAt(spec, "scaleTargetRef"), name: primaryName(target) },
    advanced: {
      ...objectAt(spec, "advanced"),
      horizontalPodAutoscalerConfig:
        autoscalerName === "" ? autoscaler : { ...autoscaler, name: primaryName(autoscalerName) },
    },
    ...(minReplicas === undefined ? {} : { minReplicaCount: minReplicas }),
    ...(maxReplicas === undefined ? {} : { maxReplicaCount: maxReplicas }),
  };
}

/** A trigger with a query for the primary: the query that the Canary gives, else the target's with the name replaced. */
function primaryTrigger(
  trigger: JsonObject,
  { primaryScalerQueries }: AutoscalerReference,
  target: string,
): JsonObject {
  const metadata = objectAt(trigger, "metadata");
  // Only a query of its own: a trigger may be named `constructor`.
  const given = new Map(Object.entries(primaryScalerQueries ?? {})).get(textAt(trigger, "name"));
  const own = metadata["query"];
  if (primaryScalerQueries === undefined && typeof own === "string") {
    return { ...trigger, metadata: { ...metadata, query: primaryQuery(own, target) } };
  }
  return given === undefined ? trigger : { ...trigger, metadata: { ...metadata, query: given } };
}

/** Each name of the target, or of its canary, is that of the primary. */
function primaryQuery(query: string, target: string): string {
  return query
    .split(`${target}-canary`)
    .map((part) => part.replaceAll(target, () => primaryName(target)))
    .join(primaryName(target));
}

/** A missing one needs no resuming and does not block the deletion. */
async function resume(reference: AutoscalerReference, step: WorkloadStep): Promise<void> {
  if ((await step.objects.find(kind, reference.name)) !== undefined) await pause(null, reference, step);
}

async function pause(value: "0" | null, { name }: AutoscalerReference, { objects }: WorkloadStep): Promise<void> {
  const target = await objects.read(kind, name);
  if ((target.metadata.annotations?.[pausedAnnotation] ?? null) === value) return;
  const annotations = { [pausedAnnotation]: value };
  await within(`updating ScaledObject ${name} failed`, objects.merge(kind, name, { metadata: { annotations } }));
}

function textsWithoutPause(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => key !== pausedAnnotation));
}
