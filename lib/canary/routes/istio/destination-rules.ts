import { equal, toJsonObject } from "../../../core/json.ts";
import { canaryManager, type StepDeps } from "../../canary-deps.ts";
import { type Canary, canaryServiceName, primaryServiceName } from "../../canary.ts";
import { told } from "../../workload/step-objects.ts";
import { changed } from "../changed-object.ts";
import { controllerReference, foreignRoute, ownedByOthers } from "../../ownership.ts";
import { refuse } from "../../step-fault.ts";

/** The DestinationRules of canary and primary. They exist before a route uses them. */
export async function ensureDestinationRules(canary: Canary, deps: StepDeps): Promise<void> {
  await ensureDestinationRule(canaryServiceName(canary), canary, deps);
  await ensureDestinationRule(primaryServiceName(canary), canary, deps);
}

async function ensureDestinationRule(name: string, canary: Canary, deps: StepDeps): Promise<void> {
  const { cluster, signal, log } = deps;
  const { namespace } = canary;
  const { trafficPolicy } = canary.spec.service;
  const failed = (what: string) => (cause: string) =>
    `reconcileDestinationRule failed: DestinationRule ${name}.${namespace} ${what} error: ${cause}`;
  const ref = { group: "networking.istio.io", version: "v1beta1", kind: "DestinationRule", namespace, name };
  const spec = toJsonObject({ host: name, trafficPolicy });
  const live = await told(cluster.get(ref, signal), failed("get query"));
  if (live === undefined) {
    const manifest = {
      apiVersion: "networking.istio.io/v1beta1",
      kind: ref.kind,
      metadata: { name, namespace, ownerReferences: [controllerReference(canary)] },
      spec,
    };
    await told(cluster.create(manifest, { manager: canaryManager }, signal), failed("create"));
    log.info("DestinationRule created", { canary: canary.name, namespace, name });
    return;
  }
  refuse(ownedByOthers(live, canary));
  if (equal(live["spec"], spec)) return;
  refuse(foreignRoute(live, canary, "give spec.service.name another value"));
  await told(changed(live, { spec }, deps), failed("update"));
  log.info("DestinationRule updated", { canary: canary.name, namespace, name });
}
