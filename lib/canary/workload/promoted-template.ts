import type { JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { primaryName } from "../canary.ts";
import { templateHash } from "../revision/template-hash.ts";
import { configKey, configReferences } from "./config-references.ts";
import { objectAt, textsOf } from "./fields.ts";
import type { PodKind, WorkloadStep } from "./pod-kind.ts";
import { configKinds, hashOf, type TrackedConfig, trackedConfig } from "./tracked-configs.ts";
import { isOwnedBy } from "../ownership.ts";

/** What was last promoted, as far as the cluster still has it. */
export interface Promoted {
  /** The target with the template that was last promoted. */
  readonly target: LiveObject;
  /** The configs of that template. For configs that the primary has a copy of, the copy counts. */
  readonly configs: ReadonlyMap<string, TrackedConfig>;
  /** The configs whose copy is missing. */
  readonly missing: ReadonlyMap<string, TrackedConfig>;
}

/**
 * The template that the status names as last promoted: the target's present one, or an earlier one in its ReplicaSets or
 * ControllerRevisions. Undefined where nothing keeps it, or where a copy of its configs is gone and the target's may be the rejected one.
 */
export async function promotedOf(kind: PodKind, target: LiveObject, step: WorkloadStep): Promise<Promoted | undefined> {
  const template = await promotedTemplate(kind, target, step);
  if (template === undefined) return undefined;
  const { deps } = step;
  const [configs, missing] = [new Map<string, TrackedConfig>(), new Map<string, TrackedConfig>()];
  const references = deps.settings.tracksConfigs ? configReferences(objectAt(template, "spec")) : [];
  for (const reference of references) {
    const copy = await step.objects.find(configKinds[reference.kind], primaryName(reference.name));
    if (copy !== undefined && isOwnedBy(copy)) {
      configs.set(configKey(reference), { ...reference, live: copy, hash: hashOf(copy) });
      continue;
    }
    const own = await trackedConfig(reference, step.canary, step);
    if (own === undefined) continue;
    if (step.canary.status.phase === "Failed") return undefined;
    configs.set(configKey(reference), own);
    missing.set(configKey(reference), own);
  }
  return { target: { ...target, spec: { ...objectAt(target, "spec"), template } }, configs, missing };
}

async function promotedTemplate(
  kind: PodKind,
  target: LiveObject,
  step: WorkloadStep,
): Promise<JsonObject | undefined> {
  const isPromoted = (template: JsonObject): boolean =>
    templateHash(kind.hashed(template)) === step.canary.status.lastPromotedSpec;
  const present = objectAt(target, "spec", "template");
  if (isPromoted(present)) return present;
  const { revisions } = kind;
  const labels = textsOf(objectAt(target, "spec", "selector", "matchLabels"));
  const selector = Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(",");
  const kept = (await step.objects.list(revisions, selector)).filter((one) => isOf(one, target));
  return kept.map((one) => revisions.templateOf(one)).find(isPromoted);
}

function isOf({ metadata: { ownerReferences = [] } }: LiveObject, target: LiveObject): boolean {
  return ownerReferences.some(({ uid }) => uid === target.metadata.uid);
}
