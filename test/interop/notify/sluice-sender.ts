import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import type { Http } from "../../../lib/core/ports/http.ts";
import { asHome } from "../../../lib/core/ports/home-and-target.ts";
import { celModule, wasmCel } from "../../../lib/cel/wasm-cel.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { commitStatuses } from "../../../lib/notify/commit-status-id.ts";
import { deliverNotifications } from "../../../lib/notify/deliver.ts";
import { dispatchEvent } from "../../../lib/notify/dispatch.ts";
import { listedAlerts } from "../../../lib/notify/listed-alerts.ts";
import type { Notification } from "../../../lib/notify/notification.ts";
import type { NotificationEvent } from "../../../lib/notify/notification-event.ts";
import { providers } from "../../../lib/notify/providers/providers.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { memoryCauseGroups } from "../../../local/state/cause-groups.ts";
import { memoryEventWindows } from "../../../local/state/event-windows.ts";
import { silentLog } from "../../doubles/silent-log.ts";

/**
 * Sends an event to every Provider of the cluster that an Alert names for it, as Sluice does.
 *
 * @param hosts the origins that stand for others, by the origin that a Provider always calls @param open ends its connections
 */
export function sluiceSender(
  connected: Cluster,
  hosts: Readonly<Record<string, string>>,
  open: AsyncDisposableStack,
): (event: NotificationEvent, signal: AbortSignal) => Promise<void> {
  const client = httpClient({ network: homeNetwork });
  open.defer(() => client.close());
  const http: Http = { send: (request, signal) => client.send({ ...request, url: urlBy(hosts, request.url) }, signal) };
  const cel = wasmCel({ file: celModule, threads: 1, idleMs: 60_000 });
  open.defer(() => cel.close());
  const home = asHome(connected);
  const common = { clusters: { get: () => ({ home }) }, clock: systemClock, log: silentLog };
  const queued: Notification[] = [];
  const deps = {
    ...common,
    alerts: listedAlerts(systemClock),
    windows: memoryEventWindows(),
    groups: memoryCauseGroups(),
    queue: { add: async (more: readonly Notification[]) => void queued.push(...more) },
  };
  const deliver = deliverNotifications({
    ...common,
    providers,
    parts: {
      ...{ http, dial: client.dial, now: () => systemClock.now() },
      sleep: (ms: number, stop: AbortSignal) => systemClock.sleep(ms, stop),
    },
    commitStatusOf: commitStatuses(cel),
    noCrossNamespaceRefs: false,
    gates: { ObjectLevelWorkloadIdentity: false },
  });
  return async (event: NotificationEvent, signal: AbortSignal): Promise<void> => {
    await dispatchEvent("here", event, undefined, deps, signal);
    for (const notification of queued.splice(0)) await deliver(notification, signal);
  };
}

function urlBy(hosts: Readonly<Record<string, string>>, url: string): string {
  const { origin } = new URL(url);
  return `${hosts[origin] ?? origin}${url.slice(origin.length)}`;
}
