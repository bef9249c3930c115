import { isTrue } from "../../api/condition.ts";
import { type Kustomization, readKustomization } from "../../api/kustomization.ts";
import { referenceFaults } from "../../api/spec-references.ts";
import { formatWorkKey, type WorkKey } from "../../core/work-key.ts";
import { cycleText, needed } from "../owner/dependency-cycle.ts";
import { readCarriedState } from "./attempt.ts";
import type { KustomizationContext } from "./context.ts";
import { type ResolvedSource, sourceKey } from "./resolve-source.ts";

/** A Kustomization that waits for one of its dependencies. */
interface Waiting {
  /** Where this dependency stands in `spec.dependsOn`. */
  readonly index: number;
  /** What it waits for, in the words of its message. */
  readonly problem: string;
  readonly source: ResolvedSource;
}

/** The message about the cycle of a waiting Kustomization; empty if there is none. */
export function kustomizationCycleText(
  { index, problem, source }: Waiting,
  ctx: KustomizationContext,
): Promise<string> {
  const { deps, home, kustomization, run } = ctx;
  const { dependsOn = [] } = kustomization.spec;
  const rotated = [...dependsOn.slice(index), ...dependsOn.slice(0, index)];
  const read = async (key: WorkKey) => {
    const live = await home.get({ ...key, version: "v1" }, run.signal);
    const found = live && readKustomization(live);
    // A Kustomization that cannot be reconciled waits for its own correction, not for its dependencies.
    if (found === undefined || referenceFaults(found.spec).length > 0) return undefined;
    if (!mayWait(found, key, source)) return undefined;
    const dependencies = needed(found.spec.dependsOn ?? [], key, deps.gates);
    return { conditions: found.status.conditions ?? [], dependencies };
  };
  const { conditions = [] } = ctx.status();
  const waits = readCarriedState(run.carried).failures;
  const dependencies = needed(rotated, run.key, deps.gates);
  return cycleText({ dependencies, problem, conditions, waits }, { run, requests: deps.requests, read });
}

/** Whether it is not ready, or not at the revision for which those of the same source wait. */
function mayWait(member: Kustomization, key: WorkKey, source: ResolvedSource): boolean {
  if (!isReady(member)) return true;
  const { spec, status } = member;
  const isSameSource = formatWorkKey(sourceKey(spec, key.namespace, key.cluster)) === formatWorkKey(source.key);
  return isSameSource && status.lastAppliedRevision !== source.revision;
}

export function isReady({ metadata, status }: Kustomization): boolean {
  return metadata.generation === status.observedGeneration && isTrue(status.conditions ?? [], "Ready");
}
