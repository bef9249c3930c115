import type { AppliedObject } from "../../apply/apply-object.ts";
import { mayVanish } from "../../apply/may-vanish.ts";
import { parseApiVersion } from "../../core/object-ref.ts";
import type { HealthTarget } from "../../health/check-health.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/**
 * What is to become healthy before the Kustomization is Ready: with `wait` everything applied, else what `healthChecks` names;
 * never the Kustomization itself. An error text where a named object cannot be looked for (reference 3.17).
 */
export async function healthTargets(
  applied: readonly AppliedObject[],
  of: SubjectOfRun,
): Promise<readonly HealthTarget[] | string> {
  const { wait, healthChecks = [] } = of.kustomization.spec;
  const targets = wait ? applied.flatMap(targetOf) : await namedTargets(healthChecks, of);
  if (typeof targets === "string") return targets;
  return targets.filter(({ ref }) => {
    return !(ref.kind === "Kustomization" && ref.name === of.name && ref.namespace === of.namespace);
  });
}

function targetOf({ desired: { ref, manifest }, change }: AppliedObject): readonly HealthTarget[] {
  return change === "skipped" ? [] : [{ ref, mayVanish: mayVanish(manifest) }];
}

type HealthCheck = {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
};

async function namedTargets(
  checks: readonly HealthCheck[],
  { cluster, run }: SubjectOfRun,
): Promise<readonly HealthTarget[] | string> {
  const targets: HealthTarget[] = [];
  for (const { apiVersion = "", kind, name, namespace = "" } of checks) {
    // Only the group counts; the version is the one that the cluster prefers.
    const { group, version } = parseApiVersion(apiVersion === "" ? "apps/v1" : apiVersion);
    const resource = await cluster.resource({ group, kind }, run.signal);
    if (resource?.namespaced && namespace === "") {
      const groupKind = group === "" ? kind : `${kind}.${group}`;
      return `resource ${groupKind} ${name} is namespace scoped, but namespace is not set`;
    }
    // A kind that nobody serves yet may come while it is waited for.
    targets.push({ ref: { group, version: resource?.version ?? version, kind, namespace, name }, mayVanish: false });
  }
  return targets;
}
