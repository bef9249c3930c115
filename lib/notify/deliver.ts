import { AlertSpec } from "../api/alert.ts";
import { declaredAlert } from "../api/kinds/alert.ts";
import { servedKind } from "../api/kinds/declaration.ts";
import { declaredNotificationProvider } from "../api/kinds/notification-provider.ts";
import { messageOf } from "../core/failure.ts";
import type { FeatureGates } from "../core/feature-gates.ts";
import type { LiveObject } from "../core/manifest.ts";
import { nameFault, subject } from "../core/object-ref.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError } from "../core/ports/cluster.ts";
import type { HomeCluster } from "../core/ports/home-and-target.ts";
import type { Http } from "../core/ports/http.ts";
import type { Log } from "../core/ports/log.ts";
import type { ServiceProxy } from "../core/ports/service-proxy.ts";
import { safeMessage } from "../core/safe-text.ts";
import { inClusterHttp } from "../in-cluster/in-cluster-http.ts";
import { admits, type ProviderType } from "./admits.ts";
import { type AlertWarning, warnOfAlert } from "./alert-event.ts";
import {
  type ConnectedProvider,
  connectProvider,
  initializingWords,
  inWords,
  liveProvider,
  makingWords,
  postInTime,
} from "./connect-provider.ts";
import { maskValues } from "./mask.ts";
import { mergeMetadata } from "./merge-metadata.ts";
import type { Notification } from "./notification.ts";
import type { NotificationEvent } from "./notification-event.ts";
import { isSetupFailure, type ProviderParts } from "./provider.ts";
import type { SharedReads } from "./shared-reads.ts";

/** The input of {@link ProviderSettings.commitStatus}, for types that set the status of a commit. */
export interface CommitStatusInput {
  /** Its metadata is merged. */
  readonly event: NotificationEvent;
  readonly alert: LiveObject;
  readonly provider: LiveObject;
  /** `spec.commitStatusExpr`; empty for none. */
  readonly expression: string;
}

export interface DeliverDeps {
  /** The clusters that are served here. */
  readonly clusters: { get(id: string): { readonly home: HomeCluster; readonly services?: ServiceProxy } | undefined };
  /** The types of Provider by their names. */
  readonly providers: Readonly<Record<string, ProviderType>>;
  readonly parts: ProviderParts;
  /** Throws Flux's text where the expression does not compile or has no result. */
  readonly commitStatusOf: (input: CommitStatusInput, signal: AbortSignal) => Promise<string>;
  /** Flux's flag of this name: an Alert sends no events of other namespaces. */
  readonly noCrossNamespaceRefs: boolean;
  /** The setting of this name: the namespaces whose Services a Provider may reach beside those of its own; absent or empty: it reaches none. */
  readonly serviceNamespaces?: readonly string[];
  readonly gates: Pick<FeatureGates, "ObjectLevelWorkloadIdentity">;
  readonly clock: Clock;
  readonly log: Log;
  /** Told what became of a notification that is done with: `sent`, or why it was not, without values of Secrets. */
  readonly settled?: (notification: Notification, outcome: string) => void;
}

/**
 * Delivers a notification to its Provider. What goes wrong with it is told by a Warning event on the Alert, and the notification is done
 * with. Throws an `ApiError` where the cluster does not answer, or the reason that `signal` was aborted with: then it may be tried again.
 */
export type Deliver = (
  notification: Notification,
  signal: AbortSignal,
  /** The reads of the notification's batch. */
  reads?: SharedReads,
) => Promise<void>;

/** {@link Deliver} on the adapters of a process. The present Alert and Provider count, also if they have changed since the event. */
export function deliverNotifications(deps: DeliverDeps): Deliver {
  return async (notification, signal, reads) => {
    const served = deps.clusters.get(notification.cluster)?.home;
    if (served === undefined) return;
    const home = reads?.of(served) ?? served;
    const alert = await home.get({ ...servedKind(declaredAlert), ...notification.alert }, signal);
    if (alert === undefined) return deps.settled?.(notification, "not sent: the Alert is gone");
    const spec = specOf(alert);
    if (spec === undefined || spec.suspend === true) {
      return deps.settled?.(notification, "not sent: the Alert is suspended, or its spec cannot be read");
    }
    const delivery: Delivery = { notification, home, alert, spec, deps, hidden: [] };
    const about = subject(notification.event.involvedObject);
    const dispatching = (): string => `failed to dispatch notification for ${about}`;
    const prepared = await orWarning(delivery, dispatching, signal, () => prepare(delivery, signal));
    if (prepared === undefined) return;
    const initializing = (): string => `${dispatching()}: ${initializingWords(spec.providerRef.name)}: ${makingWords}`;
    const what = (error: unknown): string =>
      isSetupFailure(error) ? initializing() : `failed to send notification for ${about}`;
    await orWarning(delivery, what, signal, async () => {
      await postInTime(prepared, prepared.event, deps.clock, signal);
      deps.settled?.(notification, "sent");
    });
  };
}

/** Parsed once for all deliveries that share a read of an Alert. */
const parsedSpecs = new WeakMap<LiveObject, AlertSpec>();

/** Undefined if it cannot be read. */
function specOf(alert: LiveObject): AlertSpec | undefined {
  const spec = parsedSpecs.get(alert) ?? AlertSpec.safeParse(alert["spec"]).data;
  if (spec !== undefined) parsedSpecs.set(alert, spec);
  return spec;
}

/** One notification on its way. */
interface Delivery {
  readonly notification: Notification;
  readonly home: HomeCluster;
  readonly alert: LiveObject;
  readonly spec: AlertSpec;
  readonly deps: DeliverDeps;
  /** The values of the Secrets that were read for it. */
  readonly hidden: string[];
}

interface Prepared extends ConnectedProvider {
  readonly event: NotificationEvent;
}

/** Everything up to the first request. Undefined if there is nothing to send. */
async function prepare(delivery: Delivery, signal: AbortSignal): Promise<Prepared | undefined> {
  const { alert, deps, hidden, home, notification, spec } = delivery;
  const { event } = notification;
  refuseOtherNamespace(delivery);
  const live = await readProvider(delivery, signal);
  const provider = liveProvider(live);
  if (provider.spec.suspend === true) {
    deps.settled?.(notification, "not sent: the Provider is suspended");
    return undefined;
  }
  const { type } = provider.spec;
  const of = deps.providers[type];
  if (of !== undefined && !admits(of.class, event)) {
    deps.settled?.(notification, `not sent: a Provider of type ${type} takes no such event`);
    return undefined;
  }
  if ((provider.spec.serviceAccountName ?? "") !== "" && !deps.gates.ObjectLevelWorkloadIdentity) {
    throw new Error(gateText);
  }
  const merged = mergeMetadata(event, spec);
  if (Object.keys(merged.conflicts).length > 0) {
    await warn(
      delivery,
      { reason: "MetadataAppendFailed", message: conflictText(merged.conflicts), annotations: merged.conflicts },
      signal,
    );
  }
  const commitStatus = of?.class === "commit-status" ? await commitStatusOf(delivery, live, merged.event, signal) : "";
  const hide = (value: string): void => void hidden.push(value);
  const parts = { ...deps.parts, http: httpOf(delivery) };
  const connected = await connectProvider(provider, of, { alert, commitStatus, hide, home, parts }, signal);
  return { ...connected, event: merged.event };
}

/** The setting of {@link DeliverDeps.serviceNamespaces}. */
const setting = "notification-service-namespaces";

function httpOf({ deps, notification }: Delivery): Http {
  const services = deps.clusters.get(notification.cluster)?.services;
  const { serviceNamespaces: namespaces = [], parts } = deps;
  return inClusterHttp(parts.http, { services, namespaces, own: notification.alert.namespace, setting });
}

const gateText =
  "to use spec.serviceAccountName for provider authentication please enable the ObjectLevelWorkloadIdentity feature gate in the controller";
/** Flux's text, and which keys of which sources: `kubectl describe` does not show annotations of events. */
function conflictText(conflicts: Readonly<Record<string, string>>): string {
  const keys = Object.entries(conflicts).map(([key, sources]) => `${key} (${sources})`);
  return `metadata key conflicts detected (please refer to the Alert API docs and Flux RFC 0008 for more information): ${keys.join("; ")}`;
}

function refuseOtherNamespace({ deps, notification: { alert, event } }: Delivery): void {
  const { involvedObject } = event;
  if (!deps.noCrossNamespaceRefs || involvedObject.namespace === alert.namespace) return;
  const refusal = `alert '${alert.namespace}/${alert.name}' can't process event from '${subject(involvedObject)}', cross-namespace references have been blocked`;
  throw new Error(`discarding event, access denied to cross-namespace sources: ${refusal}`);
}

async function readProvider({ home, notification, spec }: Delivery, signal: AbortSignal): Promise<LiveObject> {
  const { namespace } = notification.alert;
  // That of the Alert as it is now.
  const { name } = spec.providerRef;
  const fault = nameFault(name);
  if (fault !== undefined) throw new Error(`failed to read provider: ${fault}`);
  const { group, kind, versions } = declaredNotificationProvider;
  const live = await home.get({ group, version: versions[0], kind, namespace, name }, signal);
  if (live !== undefined) return live;
  throw new Error(`failed to read provider: ${kind}.${group} ${JSON.stringify(name)} not found`);
}

async function commitStatusOf(
  { alert, deps }: Delivery,
  provider: LiveObject,
  event: NotificationEvent,
  signal: AbortSignal,
): Promise<string> {
  const { spec } = liveProvider(provider);
  const input = { event, alert, provider, expression: spec.commitStatusExpr ?? "" };
  return inWords("failed to create commit status", () => deps.commitStatusOf(input, signal));
}

/** The result, or undefined if a Warning event on the Alert tells why there is none. An outage of the cluster is thrown. */
async function orWarning<Result>(
  delivery: Delivery,
  what: (error: unknown) => string,
  signal: AbortSignal,
  act: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await act();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) throw error;
    // Masked before the text is changed in any other way: an escaped secret would not be found.
    const why = safeMessage(maskValues(messageOf(error), delivery.hidden));
    const message = `${what(error)}: ${why}`;
    delivery.deps.settled?.(delivery.notification, message);
    await warn(delivery, { reason: "NotificationDispatchFailed", message }, signal);
    return undefined;
  }
}

async function warn(
  { alert, deps: { clock, log }, home, notification: { cluster } }: Delivery,
  warning: AlertWarning,
  signal: AbortSignal,
): Promise<void> {
  await warnOfAlert(alert, warning, { cluster, clock, home, log }, signal);
}
