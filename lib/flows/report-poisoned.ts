import { Conditions } from "../api/condition.ts";
import { kustomizationStatusManager, kustomizeGroup } from "../api/names.ts";
import { fencedCluster } from "../apply/fenced-cluster.ts";
import { isJsonObject, toJson } from "../core/json.ts";
import { refOf } from "../core/manifest.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Cluster } from "../core/ports/cluster.ts";
import type { Run } from "../core/run.ts";
import { removeCondition, setCondition } from "./conditions.ts";
import { sourceManager } from "./oci-repository/subject-of-run.ts";
import { recordEvent } from "./record-event.ts";

/**
 * Tells the users of an object that it is parked: Ready=False and Stalled=True, reason `Poisoned`, and an Event. Reads
 * nothing of the object but its conditions, since anything else may be what its runs fail on.
 */
export async function reportPoisoned(
  run: Run,
  message: string,
  deps: { cluster: Cluster; clock: Clock },
): Promise<void> {
  const cluster = fencedCluster(deps.cluster, run);
  const live = await cluster.get({ ...run.key, version: "v1" }, run.signal);
  if (live === undefined) return;
  const isKustomization = run.key.group === kustomizeGroup;
  const status = live["status"];
  const before = Conditions.safeParse(isJsonObject(status) ? status["conditions"] : []).data ?? [];
  const said = { reason: "Poisoned", message, observedGeneration: live.metadata.generation ?? 0 };
  const now = deps.clock.now();
  const stalled = setCondition(before, { ...said, type: "Stalled", status: "True" }, now);
  const ready = setCondition(stalled, { ...said, type: "Ready", status: "False" }, now);
  const conditions = removeCondition(ready, "Reconciling");
  const manager = isKustomization ? kustomizationStatusManager : sourceManager;
  const patch = { type: "merge", body: { status: { conditions: toJson(conditions) } } } as const;
  await cluster.patch(refOf(live), patch, { manager, subresource: "status" }, run.signal);
  const event = { type: "Warning", reason: "Poisoned", message, annotations: {} } as const;
  const source = isKustomization ? "kustomize-controller" : "source-controller";
  await recordEvent(cluster, live, event, source, run, deps.clock);
}
