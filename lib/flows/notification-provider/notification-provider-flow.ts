import { servedKind } from "../../api/kinds/declaration.ts";
import { declaredNotificationProvider } from "../../api/kinds/notification-provider.ts";
import { finalizer } from "../../api/names.ts";
import type { Flow } from "../../core/ports/run.ts";
import { leasedCluster } from "../../gate/leased-cluster.ts";
import type { FlowDeps } from "../flow-deps.ts";
import { writeFinalizers } from "../write-finalizers.ts";

const manager = declaredNotificationProvider.statusManager;

/**
 * The run of a Provider, which is read when there is something to send and needs no reconcile: it has Flux's finalizer while it lives,
 * as in Flux, and loses it when it is deleted.
 */
export function notificationProviderFlow(deps: Pick<FlowDeps, "home">): Flow {
  return async (run) => {
    const home = leasedCluster(deps.home, run);
    const live = await home.get({ ...run.key, ...servedKind(declaredNotificationProvider) }, run.signal);
    if (live === undefined) return { outcome: "absent", dueInMs: undefined };
    const { deletionTimestamp, finalizers = [] } = live.metadata;
    const isDeleted = deletionTimestamp !== undefined;
    const outcome = isDeleted ? "deleted" : "static";
    if (finalizers.includes(finalizer) !== isDeleted) return { outcome, dueInMs: undefined, isQuiet: true };
    const change = isDeleted
      ? (all: readonly string[]) => all.filter((one) => one !== finalizer)
      : (all: readonly string[]) => [...all, finalizer];
    await writeFinalizers(live, change, { home, manager }, run.signal);
    return { outcome, dueInMs: undefined };
  };
}
