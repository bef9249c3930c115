import { declaredAlert } from "../../api/kinds/alert.ts";
import { servedKind } from "../../api/kinds/declaration.ts";
import { finalizer } from "../../api/names.ts";
import { isJsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { Flow, FlowResult, Run } from "../../core/ports/run.ts";
import { leasedCluster } from "../../gate/leased-cluster.ts";
import type { FlowDeps } from "../flow-deps.ts";
import { reportEvent } from "../record-event.ts";
import { writeFinalizers } from "../write-finalizers.ts";

export interface AlertDeps extends Pick<FlowDeps, "clock" | "home" | "log"> {
  /** Told of each run, also of one of an Alert that is gone. Undefined where the installation sends no notifications. */
  readonly alertsChanged?: (cluster: string) => void;
}

/**
 * The run of an Alert, which is read when there are events and needs no reconcile: it only removes the finalizer of API versions
 * before v1beta3, as Flux does, unless the Alert is suspended.
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
    const told = isDeleted || isSuspended ? {} : await tellIfOff(live, run, { ...deps, home });
    if (!finalizers.includes(finalizer) || (isSuspended && !isDeleted)) {
      return { outcome, dueInMs: undefined, isQuiet: true, ...told };
    }
    const without = (all: readonly string[]) => all.filter((one) => one !== finalizer);
    await writeFinalizers(live, without, { home, manager: declaredAlert.statusManager }, run.signal);
    const message = "removed finalizer from Alert to migrate to static Alert";
    const event = { type: "Normal", reason: "Migration", message, annotations: {} } as const;
    await reportEvent(home, live, event, declaredAlert.eventSource, run, deps);
    return { outcome, dueInMs: undefined, ...told };
  };
}

const offText =
  "this installation sends no notifications: set notifications to true in the context of cdk.json, and deploy it";

/** An Alert that is not sent must not look like a working one: each generation reports it once. */
async function tellIfOff(
  live: LiveObject,
  run: Run,
  deps: AlertDeps,
): Promise<Pick<FlowResult, "carried"> | undefined> {
  const { generation = 0 } = live.metadata;
  if (deps.alertsChanged !== undefined) return undefined;
  if (run.carried?.["toldOff"] !== generation) {
    const event = { type: "Warning", reason: "NotificationsOff", message: offText, annotations: {} } as const;
    await reportEvent(deps.home, live, event, declaredAlert.eventSource, run, deps);
  }
  return { carried: { toldOff: generation } };
}
