import type { LiveObject } from "../../core/manifest.ts";
import { mergePatch } from "../../core/merge-patch.ts";
import { canaryManager } from "../canary-deps.ts";
import { type Canary, canaryText, isWithoutPrimary, primaryName, targetText } from "../canary.ts";
import { StepFault } from "../step-fault.ts";
import { syncCopies } from "./config-copies.ts";
import { numberAt, objectAt } from "./fields.ts";
import { writerOf } from "./metadata.ts";
import type { PodKind, ProductionReplicas, WorkloadStep } from "./pod-kind.ts";
import { createdPrimary, primaryPodSpec } from "./primary.ts";
import { type Promoted, promotedOf } from "./promoted-template.ts";
import { within } from "./step-objects.ts";
import { selectorLabel } from "./target-metadata.ts";
import type { Restored } from "./workload.ts";

/** They scale to zero on purpose: KEDA, and the autoscaler of Kubernetes with `minReplicas: 0`. */
const autoscalers = new Set(["keda", "keda-operator", "kube-controller-manager"]);

/**
 * Keeps the primary what was last promoted. A missing primary is recreated from that, never from an unchecked or rejected revision. A
 * scaling to zero is put right, which would stop each run; other counts are theirs to choose. At rest, changes of its pod spec by other
 * writers are reverted too.
 */
export async function restorePrimary(
  kind: PodKind,
  step: WorkloadStep,
  isAtRest: boolean,
): Promise<Restored | undefined> {
  const { canary, objects } = step;
  const target = await objects.find(kind, canary.spec.targetRef.name);
  const { lastPromotedSpec = "", phase = "Initializing" } = canary.status;
  if (target === undefined || lastPromotedSpec === "" || phase === "Initializing") return undefined;
  const primary = await objects.find(kind, primaryName(target.metadata.name));
  if (primary !== undefined) return await mend(primary, target, kind, { ...step, isAtRest });
  return isOfTarget(canary) ? undefined : await within(`${kind.creation} failed`, remake(target, kind, step));
}

/** Whether the primary is to be what the target is now: that has passed its checks. A target that waits for its gate has not. */
function isOfTarget({ status }: Canary): boolean {
  const { phase } = status;
  return phase === "Promoting" || phase === "Finalising" || (phase === "Failed" && isWithoutPrimary(status));
}

async function remake(target: LiveObject, kind: PodKind, step: WorkloadStep): Promise<Restored> {
  const { canary, deps, objects } = step;
  const what = primaryText(kind, canary);
  const promoted = await promotedOf(kind, target, step);
  if (promoted === undefined) return { kind: "lost", text: `${what} is gone, and ${unknown(kind, canary)}` };
  await syncCopies(promoted.missing, canary, step);
  const made = createdPrimary(promoted.target, partsOf(promoted, kind, step));
  const replicas = await kind.productionReplicas(target, step);
  const spec = { ...objectAt(made, "spec"), ...(replicas === undefined ? {} : { replicas: replicas.count }) };
  await within(`creating ${what} failed`, objects.create(kind, { ...made, spec }));
  deps.log.warn("the primary of a canary is made again", { canary: canaryText(canary), object: what });
  return {
    kind: "restored",
    text: `${what} was gone: it is created again from what was last promoted${counted(", with", replicas)}`,
  };
}

async function mend(
  primary: LiveObject,
  target: LiveObject,
  kind: PodKind,
  step: WorkloadStep & { readonly isAtRest: boolean },
): Promise<Restored | undefined> {
  const { canary, isAtRest, objects } = step;
  const what = primaryText(kind, canary);
  const zero = await scaledToZero(primary, target, kind, step);
  const isKept = isAtRest && !isOfTarget(canary);
  const template = isKept ? await changedTemplate(primary, target, kind, step) : undefined;
  if (template?.podSpec === undefined && zero === undefined) {
    if (template === undefined) return undefined;
    return { kind: "changed", text: `${what} was changed by ${template.writer}, and ${unknown(kind, canary)}` };
  }
  const { podSpec, writer } = template ?? { podSpec: undefined, writer: undefined };
  const spec = {
    ...(zero === undefined ? {} : { replicas: zero.replicas.count }),
    ...(podSpec === undefined ? {} : { template: { spec: podSpec } }),
  };
  await within(`updating ${what} failed`, objects.merge(kind, primary.metadata.name, { spec }));
  const texts = [
    ...(podSpec === undefined ? [] : [`changed by ${writer}: its pods are what was last promoted again`]),
    ...(zero === undefined
      ? []
      : [
          `scaled to 0 by ${zero.writer}: it is scaled up${counted(" to", zero.replicas)}; suspend the Canary to keep it at 0`,
        ]),
  ];
  return { kind: "restored", text: `${what} was ${texts.join(", and ")}` };
}

/** Only where another client wrote to its pod spec: what a webhook of the cluster makes of it counts as ours. */
async function changedTemplate(primary: LiveObject, target: LiveObject, kind: PodKind, step: WorkloadStep) {
  const writer = writerOf(primary, ["f:spec", "f:template", "f:spec"], canaryManager);
  if (writer === undefined) return undefined;
  const promoted = await keptPromotion(kind, target, step);
  if (promoted === undefined) return { writer, podSpec: undefined };
  const live = objectAt(primary, "spec", "template", "spec");
  const podSpec = mergePatch(live, primaryPodSpec(promoted.target, partsOf(promoted, kind, step)));
  return podSpec === undefined ? undefined : { writer, podSpec };
}

/** Unreadable objects count as missing: the primary serves, and nothing waits for this. */
async function keptPromotion(kind: PodKind, target: LiveObject, step: WorkloadStep): Promise<Promoted | undefined> {
  try {
    return await promotedOf(kind, target, step);
  } catch (error) {
    if (error instanceof StepFault) return undefined;
    throw error;
  }
}

async function scaledToZero(primary: LiveObject, target: LiveObject, kind: PodKind, step: WorkloadStep) {
  if (step.canary.spec.autoscalerRef !== undefined) return undefined;
  if (numberAt(objectAt(primary, "spec"), "replicas") !== 0) return undefined;
  const writer = writerOf(primary, ["f:spec", "f:replicas"], canaryManager) ?? "another client";
  const replicas = await kind.productionReplicas(target, step);
  return autoscalers.has(writer) || replicas === undefined ? undefined : { replicas, writer };
}

function partsOf({ configs, target }: Promoted, kind: PodKind, { canary, deps }: WorkloadStep) {
  const selector = selectorLabel(target, kind, deps.settings.selectorLabels);
  return { kind, selector, configs, canary, settings: deps.settings };
}

function counted(before: string, replicas: ProductionReplicas | undefined): string {
  if (replicas === undefined) return "";
  const { count, isGuess } = replicas;
  return `${before} ${count} ${count === 1 ? "replica" : "replicas"}${isGuess ? ", since nothing tells how many it had" : ""}`;
}

function primaryText({ noun }: PodKind, { namespace, spec }: Canary): string {
  return `${noun} ${primaryName(spec.targetRef.name)}.${namespace}`;
}

function unknown({ noun }: PodKind, canary: Canary): string {
  const { lastPromotedSpec = "" } = canary.status;
  return (
    `nothing keeps what was last promoted (status.lastPromotedSpec ${lastPromotedSpec}): ` +
    `apply that revision, or one that is to be released, to ${noun} ${targetText(canary)}`
  );
}
