import type { CanaryStatus } from "../../api/canary.ts";
import { canaryTargets } from "../../api/canary-targets.ts";
import { apexName, type Canary, canaryServiceName, primaryName, primaryServiceName } from "../../canary/canary.ts";
import { isGoing } from "../../canary/run/run-state.ts";
import { parseApiVersion } from "../../core/object-ref.ts";
import { objectTopic } from "../../core/topics.ts";
import type { CanaryContext } from "./canary-context.ts";

/**
 * The objects that wake a Canary: its target, the tracked ConfigMaps and Secrets, and its own Services, which the next step repairs
 * after other writers' changes. At rest also its primary, which each step of a run checks.
 */
export function topicsOf(of: Pick<CanaryContext, "canary" | "run">, status: CanaryStatus): readonly string[] {
  const { apiVersion, kind, name } = of.canary.spec.targetRef;
  const { group } = parseApiVersion(apiVersion);
  const configs = Object.keys(status.trackedConfigs ?? {}).flatMap((key) => {
    const [type = "", config = ""] = key.split("/", 2);
    const configKind = configKinds.get(type);
    return configKind === undefined ? [] : [{ group: "", kind: configKind, name: config }];
  });
  const services = [apexName, primaryServiceName, canaryServiceName].map((nameOf) => ({
    group: "",
    kind: "Service",
    name: nameOf(of.canary),
  }));
  const primary = isGoing(status.phase) ? [] : [{ group, kind, name: primaryName(name) }];
  const { cluster } = of.run.key;
  const { namespace } = of.canary;
  const objects = [{ group, kind, name }, ...configs, ...services, ...primary];
  return [...new Set(objects.map((object) => objectTopic({ ...object, cluster, namespace })))];
}

/**
 * Whether other writers' changes of the target are found without reading it. A Knative Service is not observed: most clusters do not
 * have the kind, and each sweep and watch of it would fail there.
 */
export function isTargetObserved({ spec }: Pick<Canary, "spec">): boolean {
  const { apiVersion, kind } = spec.targetRef;
  const { group } = parseApiVersion(apiVersion);
  return canaryTargets.some((one) => one.group === group && one.kind === kind);
}

const configKinds: ReadonlyMap<string, string> = new Map([
  ["configmap", "ConfigMap"],
  ["secret", "Secret"],
]);
