import { declaredAlert } from "../../api/kinds/alert.ts";
import { servedKind } from "../../api/kinds/declaration.ts";
import { finalizer } from "../../api/names.ts";
import { isJsonObject } from "../../core/json.ts";
import type { Flow } from "../../core/ports/run.ts";
import { leasedCluster } from "../../gate/leased-cluster.ts";
import type { FlowDeps } from "../flow-deps.ts";
import { reportEvent } from "../record-event.ts";
import { writeFinalizers } from "../write-finalizers.ts";

export interface AlertDeps extends Pick<FlowDeps, "clock" | "home" | "log"> {
  /** Told of each run, also of one of an Alert that is gone. */
  readonly alertsChanged?: (cluster: string) => void;
}

/**
 * The run of an Alert, which is read when there are events and needs no reconcile: it only takes off the finalizer that API versions
 * before v1beta3 put on it, as Flux does, not while the Alert is suspended.
 */
export function alertFlow(deps: AlertDeps): Flow {
  return async (run) => {
    deps.alertsChanged?.(run.key.cluster);
    const home = leasedCluster(deps.home, run);
    const live = await home.get({ ...run.key, ...servedKind(declaredAlert) }, run.signal);
    if (live === undefined) return { outcome: "absent", dueInMs: undefined };
    const { deletionTimestamp, finalizers = [] } = live.metadata;
    const isDeleted = deletionTimestamp !== undefined;
    const outcome = isDeleted ? "deleted" : "static";
    const isSuspended = isJsonObject(live["spec"]) && live["spec"]["suspend"] === true;
    if (!finalizers.includes(finalizer) || (isSuspended && !isDeleted)) {
      return { outcome, dueInMs: undefined, isQuiet: true };
    }
    const without = (all: readonly string[]) => all.filter((one) => one !== finalizer);
    await writeFinalizers(live, without, { home, manager: declaredAlert.statusManager }, run.signal);
    const message = "removed finalizer from Alert to migrate to static Alert";
    const event = { type: "Normal", reason: "Migration", message, annotations: {} } as const;
    await reportEvent(home, live, event, declaredAlert.eventSource, run, deps);
    return { outcome, dueInMs: undefined };
  };
}
