import { mayVanish } from "../../../apply/terminating.ts";
import { isJsonObject } from "../../../core/json.ts";
import { refOf } from "../../../core/manifest.ts";
import { checkHealth, type ObservedHealth, type Verdict, verdict } from "../../../health/check-health.ts";
import type { HealthRules } from "../../../health/health-rules.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";
import type { HookObject } from "./hook-object.ts";

const noRules: HealthRules = { ruleOf: () => undefined, isUnreconciled: () => false };

/**
 * One check of a hook's object (reference helmrelease 11): Jobs and Pods must have ended, an object of any other kind is ready at
 * once, and a rule of `healthCheckExprs` replaces both.
 *
 * @throws Failure if a health rule takes too long
 */
export async function hookVerdict(
  object: HookObject,
  healthRules: HealthRules | undefined,
  ctx: HelmReleaseContext,
): Promise<Verdict> {
  return verdict(await observed(object, healthRules ?? noRules, ctx), { isFailFast: false });
}

async function observed(
  { ref, manifest }: HookObject,
  rules: HealthRules,
  { deps, run, target }: HelmReleaseContext,
): Promise<readonly ObservedHealth[]> {
  const isJob = ref.group === "batch" && ref.kind === "Job";
  if (rules.ruleOf(ref) !== undefined || isJob) {
    const health = { cluster: target, now: deps.clock.now(), rules };
    return checkHealth([{ ref, mayVanish: mayVanish(manifest) }], health, run.signal);
  }
  if (ref.group !== "" || ref.kind !== "Pod") return [];
  const pod = await target.get(refOf(manifest), run.signal);
  if (pod === undefined) return [{ ref, status: "NotFound" }];
  const status = isJsonObject(pod["status"]) ? pod["status"]["phase"] : undefined;
  if (status === "Succeeded") return [{ ref, status: "Current" }];
  return [{ ref, status: status === "Failed" ? "Failed" : "InProgress", object: pod }];
}
