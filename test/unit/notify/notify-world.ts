import { isJsonObject } from "../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import type { Clock } from "../../../lib/core/ports/clock.ts";
import { asHome } from "../../../lib/core/ports/home-and-target.ts";
import type { ProviderType } from "../../../lib/notify/admits.ts";
import { type DeliverDeps, deliverNotifications } from "../../../lib/notify/deliver.ts";
import { type DispatchDeps, dispatchEvent } from "../../../lib/notify/dispatch.ts";
import { listedAlerts } from "../../../lib/notify/listed-alerts.ts";
import type { Notification } from "../../../lib/notify/notification.ts";
import type { NotificationEvent } from "../../../lib/notify/notification-event.ts";
import type { ProviderSettings } from "../../../lib/notify/provider.ts";
import { memoryEventWindows } from "../../../local/state/event-windows.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { objectCluster, type Write } from "../flows/source-world.ts";

const never = new AbortController().signal;
export const cluster = "here";

/** What a Provider of a test has got. */
export interface Posted {
  readonly settings: ProviderSettings;
  readonly event: NotificationEvent;
}

/**
 * A cluster of plain objects, and all that lies between an event and a Provider. The types of Provider remember what they get; the setup of
 * one without address fails as Flux's `generic` and `slack` do.
 */
export function notifyWorld(change: Partial<DeliverDeps> = {}) {
  const objects = new Map<string, LiveObject>();
  const writes: Write[] = [];
  const events: LiveObject[] = [];
  const posted: Posted[] = [];
  const queued: Notification[] = [];
  const lists: string[] = [];
  const state = { now: Date.UTC(2026, 10, 24, 12), fault: undefined as Error | undefined };
  // Sleeps only as long as somebody waits.
  const clock: Clock = {
    now: () => state.now,
    monotonic: () => state.now,
    sleep: (_ms, signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  };
  const log = recordedLog();
  const reads: string[] = [];
  const plain = objectCluster(objects, writes, events, () => false);
  const home = asHome({
    ...noCluster,
    ...plain,
    get: async (ref, signal) => {
      reads.push(`${ref.kind}/${ref.name}`);
      return plain.get(ref, signal);
    },
    list: async ({ kind }) => {
      lists.push(kind);
      return [...objects.values()].filter((one) => one.kind === kind);
    },
  });
  const type = (of: ProviderType["class"], fault: string): ProviderType => ({
    class: of,
    make: (settings) => {
      if (settings.address === "") throw new Error(fault);
      return {
        async post(event) {
          if (state.fault !== undefined) throw state.fault;
          posted.push({ settings, event });
        },
      };
    },
  });
  const clusters = { get: (id: string) => (id === cluster ? { home } : undefined) };
  const common = { clusters, clock, log };
  const alerts = listedAlerts(clock);
  const dispatchDeps: DispatchDeps = {
    ...common,
    alerts,
    windows: memoryEventWindows(),
    queue: { add: async (notifications) => void queued.push(...notifications) },
  };
  const deliverDeps: DeliverDeps = {
    ...common,
    providers: {
      generic: type("generic", 'invalid hook URL : parse "": empty url'),
      slack: type("other", "invalid Slack hook URL : 'parse \"\": empty url'"),
      github: type("commit-status", "no address"),
      githubpullrequestcomment: type("change-request", "no address"),
    },
    parts: { http: { send: fail }, dial: fail, now: () => state.now, sleep: (ms, signal) => clock.sleep(ms, signal) },
    commitStatusOf: async () => "status",
    noCrossNamespaceRefs: false,
    gates: { ObjectLevelWorkloadIdentity: false },
    ...change,
  };
  const deliver = deliverNotifications(deliverDeps);
  const self = {
    objects,
    events,
    posted,
    reads,
    lists,
    state,
    log,
    home,
    dispatchDeps,
    deliverDeps,
    apply({ apiVersion, kind, metadata, ...rest }: Manifest): void {
      const id = `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
      const { stringData, ...fields } = rest;
      const data = isJsonObject(stringData)
        ? Object.entries(stringData).map(([key, text]) => [
            key,
            Buffer.from(typeof text === "string" ? text : "").toString("base64"),
          ])
        : undefined;
      const own = { ...metadata, uid: `uid-of-${id}`, resourceVersion: "1" };
      objects.set(id, {
        apiVersion,
        kind,
        metadata: own,
        ...fields,
        ...(data === undefined ? {} : { data: Object.fromEntries(data) }),
      });
      alerts.forget(cluster);
    },
    remove: (id: string) => void objects.delete(id),
    dispatch: (event: NotificationEvent) => dispatchEvent(cluster, event, dispatchDeps, never),
    /** Dispatches the event and delivers all that it gave. */
    async send(event: NotificationEvent): Promise<"first" | "repeated"> {
      const answer = await self.dispatch(event);
      for (const notification of queued.splice(0)) await deliver(notification, never);
      return answer;
    },
    deliver,
    queued,
    /** `Alert/alert Warning Reason message` of each event that was recorded since the last look. */
    told: () =>
      events.splice(0).map((event) => {
        const object = isJsonObject(event["involvedObject"]) ? event["involvedObject"] : {};
        const about = [object["kind"], object["name"]].filter((one) => typeof one === "string").join("/");
        return [about, event["type"], event["reason"], event["message"]].join(" ");
      }),
  };
  return self;
}

async function fail(): Promise<never> {
  throw new Error("no test of this world connects to anything");
}
