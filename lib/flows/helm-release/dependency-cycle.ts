import { isTrue } from "../../api/condition.ts";
import { type HelmRelease, parseHelmRelease } from "../../api/helm-release.ts";
import { Failure } from "../../core/failure.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { cycleText, needed } from "../owner/dependency-cycle.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";
import { readCarried } from "./carried.ts";

/**
 * The message about the cycle of a HelmRelease that waits for one of its dependencies; empty if there is none.
 *
 * @param index where this dependency stands in `spec.dependsOn`
 * @param problem what it waits for, in the words of its message
 */
export function releaseCycleText(
  { index, problem }: { readonly index: number; readonly problem: string },
  ctx: HelmReleaseContext,
): Promise<string> {
  const { deps, home, release, run } = ctx;
  const { dependsOn = [] } = release.spec;
  const rotated = [...dependsOn.slice(index), ...dependsOn.slice(0, index)];
  const read = async (key: WorkKey) => {
    const live = await home.get({ ...key, version: "v2" }, run.signal);
    const found = live && readRelease(live);
    // One that is ready waits for nothing, and one that cannot be read waits for its own correction.
    if (found === undefined || isReadyNow(found)) return undefined;
    const dependencies = needed(found.spec.dependsOn ?? [], key, deps.gates);
    return { conditions: found.status.conditions ?? [], dependencies };
  };
  const { conditions = [] } = ctx.status();
  const { waits = 0 } = readCarried(run.carried);
  const dependencies = needed(rotated, run.key, deps.gates);
  return cycleText({ dependencies, problem, conditions, waits }, { run, requests: deps.requests, read });
}

/** Undefined if the object is invalid. Such an object does nothing until its spec is corrected. */
export function readRelease(live: LiveObject): HelmRelease | undefined {
  try {
    return parseHelmRelease(live);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/** Whether its status says for its present generation that it is ready. */
export function isReadyNow({ metadata, status }: HelmRelease): boolean {
  return status.observedGeneration === metadata.generation && isTrue(status.conditions ?? [], "Ready");
}
