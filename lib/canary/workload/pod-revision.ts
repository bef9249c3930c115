import type { CanaryStatus } from "../../api/canary.ts";
import { primaryName } from "../canary.ts";
import { templateHash } from "../revision/template-hash.ts";
import { objectAt } from "./fields.ts";
import type { PodKind, WorkloadStep } from "./pod-kind.ts";
import { hasId, hasTemplate } from "./primary.ts";
import type { StepObjects } from "./step-objects.ts";
import { selectorLabel } from "./target-metadata.ts";
import { configKinds, hashOf, type TrackedConfig, trackedConfigs } from "./tracked-configs.ts";
import type { TargetRevision } from "./workload.ts";

/**
 * The revision of a target that makes pods of a template. Two differences from Flagger's hash: a primary that runs the template already
 * makes it the promoted one, whether Flagger or Sluice hashed it (reference canary 3). If the primary was made from an earlier template
 * than the target has when the initialisation ends, there is none, so that a run checks the new template first: Flagger takes it for
 * promoted.
 */
export async function podRevision(kind: PodKind, step: WorkloadStep): Promise<TargetRevision> {
  const { canary, deps, objects } = step;
  const target = await objects.read(kind, canary.spec.targetRef.name);
  const configs = await trackedConfigs(objectAt(target, "spec", "template", "spec"), canary, step);
  const revision = {
    spec: templateHash(kind.hashed(objectAt(target, "spec", "template"))),
    configs: configHashes(configs, step),
  };
  const isInitialising = (canary.status.phase ?? "Initializing") === "Initializing";
  if (!isInitialising && !mayBeForeign(canary.status, revision.spec)) return revision;
  const primary = await objects.find(kind, primaryName(canary.spec.targetRef.name));
  if (primary === undefined) return revision;
  const selector = selectorLabel(target, kind, deps.settings.selectorLabels);
  const parts = { kind, selector, configs, canary, settings: deps.settings };
  if (!isInitialising) {
    const promoted = hasTemplate(primary, target, parts) ? canary.status.lastPromotedSpec : undefined;
    return { ...revision, spec: promoted ?? revision.spec };
  }
  // By its id alone where a webhook has changed the template when the primary was made.
  const isOfTarget =
    hasId(primary, target, parts) || (hasTemplate(primary, target, parts) && (await areCopied(configs, objects)));
  return isOfTarget ? revision : { ...revision, spec: "" };
}

/** If no configs are tracked, none has changed. */
function configHashes(configs: ReadonlyMap<string, TrackedConfig>, { canary, deps }: WorkloadStep) {
  if (!deps.settings.tracksConfigs) return canary.status.trackedConfigs ?? {};
  return Object.fromEntries([...configs].map(([key, { hash }]) => [key, hash]));
}

/** Whether a Canary at rest names other hashes than ours: the target has changed, or another version of Flagger has hashed it. */
function mayBeForeign({ lastAppliedSpec, lastPromotedSpec = "", phase }: CanaryStatus, spec: string): boolean {
  const isAtRest = phase === "Initialized" || phase === "Succeeded";
  return isAtRest && lastPromotedSpec !== "" && spec !== lastAppliedSpec && spec !== lastPromotedSpec;
}

async function areCopied(configs: ReadonlyMap<string, TrackedConfig>, objects: StepObjects): Promise<boolean> {
  for (const { hash, kind, name } of configs.values()) {
    const copy = await objects.find(configKinds[kind], primaryName(name));
    if (copy === undefined || hashOf(copy) !== hash) return false;
  }
  return true;
}
