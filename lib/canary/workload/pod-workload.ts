import type { JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { mergePatch } from "../../core/merge-patch.ts";
import type { StepDeps } from "../canary-deps.ts";
import { type Canary, canaryText, primaryName } from "../canary.ts";
import { adoptCopies, syncCopies } from "./config-copies.ts";
import { objectAt } from "./fields.ts";
import { podsIdOf } from "./metadata.ts";
import type { PodKind, Role, WorkloadStep } from "./pod-kind.ts";
import { podRevision } from "./pod-revision.ts";
import { type PairReader, pairReader } from "./read-together.ts";
import { createdPrimary, hasId, primaryFields, promotedFields } from "./primary.ts";
import { restorePrimary } from "./restored-primary.ts";
import { stepObjects, within } from "./step-objects.ts";
import { discoveredPorts, selectorLabel } from "./target-metadata.ts";
import { trackedConfigs } from "./tracked-configs.ts";
import { adoption, isOwnerless, refuseForeign, refuseFormer } from "../ownership.ts";
import type { Readiness, TargetMetadata, Workload } from "./workload.ts";

const primarySuffix = "-primary";

/** The workload of a Canary whose target creates pods from a template. */
export function podWorkload(kind: PodKind, canary: Canary, deps: StepDeps): Workload {
  const reader = pairReader(kind, canary, deps, deps.memory?.sharedLabel);
  const objects = stepObjects(canary.namespace, { ...deps, cluster: { ...deps.cluster, get: reader.get } });
  const step = { canary, deps, objects };
  return {
    sharedLabel: () => sharedLabel(kind, reader, step),
    metadata: () => metadata(kind, step),
    metadataWithoutTarget: () => metadataWithoutTarget(kind, step),
    ensurePrimary: () => within(`${kind.creation} failed`, ensurePrimary(kind, step)),
    restorePrimary: (isAtRest) => restorePrimary(kind, step, isAtRest),
    primaryReadiness: () => readiness(kind, "primary", step),
    canaryReadiness: () => readiness(kind, "canary", step),
    revision: () => podRevision(kind, step),
    isPromoted: () => isPromoted(kind, step),
    promote: () => {
      const primary = `${kind.noun} ${primaryName(canary.spec.targetRef.name)}.${canary.namespace}`;
      return within(`updating ${primary} template spec failed`, promote(kind, step));
    },
    ...kind.scaling(step),
  };
}

async function metadata(kind: PodKind, { canary, deps, objects }: WorkloadStep): Promise<TargetMetadata> {
  const target = await objects.read(kind, canary.spec.targetRef.name);
  const selector = selectorLabel(target, kind, deps.settings.selectorLabels);
  return { ...selector, ports: discoveredPorts(podSpecOf(target), canary.spec.service) };
}

async function sharedLabel(kind: PodKind, reader: PairReader, { canary, deps, objects }: WorkloadStep) {
  const { name } = canary.spec.targetRef;
  const target = await objects.find(kind, name);
  if (target === undefined) return undefined;
  const selector = selectorLabel(target, kind, deps.settings.selectorLabels);
  return reader.shared({ target, primary: await objects.find(kind, primaryName(name)), selector });
}

async function metadataWithoutTarget(kind: PodKind, step: WorkloadStep): Promise<TargetMetadata | undefined> {
  const { canary, objects } = step;
  if ((await objects.find(kind, canary.spec.targetRef.name)) !== undefined) return undefined;
  const primary = await objects.find(kind, primaryName(canary.spec.targetRef.name));
  const labels = Object.entries(objectAt(primary ?? {}, "spec", "selector", "matchLabels"));
  const [label, value] = labels.find(([, each]) => typeof each === "string" && each.endsWith(primarySuffix)) ?? [];
  if (label === undefined || typeof value !== "string") return undefined;
  return { label, labelValue: value.slice(0, -primarySuffix.length), ports: new Map() };
}

async function ensurePrimary(kind: PodKind, step: WorkloadStep): Promise<void> {
  const { canary, deps, objects } = step;
  const target = await objects.read(kind, canary.spec.targetRef.name);
  kind.check(target);
  const selector = selectorLabel(target, kind, deps.settings.selectorLabels);
  const name = primaryName(canary.spec.targetRef.name);
  const known = await objects.find(kind, name);
  const what = `${kind.noun} ${name}.${canary.namespace}`;
  if (known !== undefined) refuseOthers(known, canary);
  if (known !== undefined && !isOwnerless(known)) return;
  const configs = await trackedConfigs(podSpecOf(target), canary, step);
  if (known !== undefined) {
    // The primary comes last: if it has no owner, the copies may have none either.
    await adoptCopies(configs, { primary: known, target }, step);
    return await within(`updating ${what} failed`, objects.merge(kind, name, adoption(known, canary)));
  }
  await syncCopies(configs, canary, step);
  const primary = createdPrimary(target, { kind, selector, configs, canary, settings: deps.settings });
  await within(`creating ${what} failed`, objects.create(kind, primary));
  deps.log.info("the primary of a canary is created", { canary: canaryText(canary), object: `${kind.kind}/${name}` });
}

/** A primary without an owner, left by a Canary that was deleted without its objects, is recognised by the id of its pods. */
function refuseOthers(known: LiveObject, canary: Canary): void {
  refuseFormer(known, canary);
  if (isOwnerless(known) && podsIdOf(objectAt(known, "spec", "template")) !== "") return;
  refuseForeign(known, canary, "give the Canary another target");
}

async function readiness(kind: PodKind, role: Role, step: WorkloadStep): Promise<Readiness> {
  const target = step.canary.spec.targetRef.name;
  const live = await step.objects.read(kind, role === "primary" ? primaryName(target) : target);
  return kind.readiness(live, role, { canary: step.canary, clock: step.deps.clock });
}

/**
 * The configs first: the template that names them rolls the pods. If a promotion is interrupted between the two, the next step repeats it;
 * a finished one writes nothing.
 */
async function promote(kind: PodKind, step: WorkloadStep): Promise<void> {
  const { canary, objects } = step;
  const { primary, target, parts } = await promotion(kind, step);
  await syncCopies(parts.configs, canary, step);
  const wanted = promotedFields(target, parts);
  const patch = mergePatch(primaryFields(primary, kind, wanted), wanted);
  if (patch !== undefined) await objects.merge(kind, primaryName(canary.spec.targetRef.name), patch);
}

/** The parts of a promotion. */
async function promotion(kind: PodKind, step: WorkloadStep) {
  const { canary, deps, objects } = step;
  const target = await objects.read(kind, canary.spec.targetRef.name);
  const selector = selectorLabel(target, kind, deps.settings.selectorLabels);
  const primary = await objects.read(kind, primaryName(canary.spec.targetRef.name));
  const configs = await trackedConfigs(podSpecOf(target), canary, step);
  return { target, primary, parts: { kind, selector, configs, canary, settings: deps.settings } };
}

/** The id of its pods names template, configs and run: with it, all of them are there. */
async function isPromoted(kind: PodKind, step: WorkloadStep): Promise<boolean> {
  const { primary, target, parts } = await promotion(kind, step);
  return hasId(primary, target, parts);
}

function podSpecOf(target: LiveObject): JsonObject {
  return objectAt(target, "spec", "template", "spec");
}
