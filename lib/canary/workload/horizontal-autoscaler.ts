import { type JsonObject, toJsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { mergePatch } from "../../core/merge-patch.ts";
import { canaryText, primaryName } from "../canary.ts";
import { objectAt, only } from "./fields.ts";
import { withoutFlux } from "./metadata.ts";
import type { WorkloadStep } from "./pod-kind.ts";
import { type AutoscalerReference, horizontalPodAutoscalerKind, isLeftOfPrimary } from "./scaler-kinds.ts";
import { within } from "./step-objects.ts";
import { adoption, controllerReference, refuseForeign } from "../ownership.ts";
import type { Scaler } from "./workload.ts";

const kind = horizontalPodAutoscalerKind;

/** What a promotion copies, apart from the scaled target. */
const copiedFields = ["minReplicas", "maxReplicas", "metrics", "behavior"];

/** A HorizontalPodAutoscaler. That of the target needs no pause: it does nothing at 0 replicas. */
export function horizontalAutoscaler(reference: AutoscalerReference, step: WorkloadStep): Scaler {
  return {
    ensurePrimary: (isFirst) => ensurePrimary(reference, isFirst, step),
    pauseTarget: async () => {},
    resumeTarget: async () => {},
  };
}

async function ensurePrimary(reference: AutoscalerReference, isFirst: boolean, step: WorkloadStep): Promise<void> {
  const { canary, deps, objects } = step;
  const own = await objects.read(kind, reference.name);
  const name = primaryName(reference.name);
  const text = `HorizontalPodAutoscaler v2 ${name}.${canary.namespace} failed`;
  const primary = await objects.find(kind, name);
  const wanted = primarySpec(own, reference, canary.spec.targetRef.name);
  if (primary === undefined) {
    const { labels = {} } = own.metadata;
    const metadata = {
      name,
      namespace: canary.namespace,
      labels: withoutFlux(labels),
      ownerReferences: [controllerReference(canary)],
    };
    const manifest = { apiVersion: own.apiVersion, kind: kind.kind, metadata, spec: wanted };
    await within(`creating ${text}`, objects.create(kind, manifest));
    deps.log.info("the autoscaler of a primary is created", {
      canary: canaryText(canary),
      object: `${kind.kind}/${name}`,
    });
    return;
  }
  if (isLeftOfPrimary(primary, canary)) {
    await within(`updating ${text}`, objects.merge(kind, name, adoption(primary, canary)));
  } else {
    refuseForeign(primary, canary, "take autoscalerRef out of the Canary");
  }
  if (isFirst) return;
  const live = only(objectAt(primary, "spec"), copiedFields);
  const patch = mergePatch(live, only(wanted, copiedFields));
  if (patch !== undefined) await within(`updating ${text}`, objects.merge(kind, name, { spec: patch }));
}

function primarySpec(own: LiveObject, { primaryScalerReplicas = {} }: AutoscalerReference, target: string): JsonObject {
  const spec = objectAt(own, "spec");
  const scaleTargetRef = {
    ...only(objectAt(spec, "scaleTargetRef"), ["kind", "apiVersion"]),
    name: primaryName(target),
  };
  return toJsonObject({ scaleTargetRef, ...only(spec, copiedFields), ...primaryScalerReplicas });
}
