import { messageOf } from "../core/failure.ts";
import { type LiveObject, refOf } from "../core/manifest.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError, type Cluster } from "../core/ports/cluster.ts";
import { safeMessage } from "../core/safe-text.ts";
import type { ProviderClass } from "./admits.ts";
import { connectProvider, liveProvider, postInTime } from "./connect-provider.ts";
import type { DeliverDeps } from "./deliver.ts";
import { maskValues } from "./mask.ts";
import type { NotificationEvent } from "./notification-event.ts";

export interface TestEventDeps extends Pick<DeliverDeps, "commitStatusOf" | "parts" | "providers"> {
  /** Reads the Secrets of the Provider. */
  readonly home: Pick<Cluster, "get">;
  readonly clock: Pick<Clock, "now" | "sleep">;
}

/** What goes wrong with a test event. Its text shows no value of a Secret. */
export class TestEventFailure extends Error {
  override readonly name = "TestEventFailure";
}

/**
 * Sends an event of severity info and reason `Test` to a Provider, by the implementation that sends the events of Alerts, and only once
 * the metadata names what the type is about. The Provider stands for the object of the event and for the Alert. A suspended one is tried
 * too. Throws a {@link TestEventFailure}, an `ApiError` where the cluster does not answer, or the reason of the signal.
 *
 * @param metadata as Providers see it, without prefixes
 */
export async function sendTestEvent(
  live: LiveObject,
  metadata: Readonly<Record<string, string>>,
  { clock, commitStatusOf, home, parts, providers }: TestEventDeps,
  signal: AbortSignal,
): Promise<void> {
  const hidden: string[] = [];
  try {
    const provider = liveProvider(live);
    const of = providers[provider.spec.type];
    const wanted = of && missingMetadata(of.class, metadata);
    if (wanted !== undefined) throw new Error(`a Provider of type ${provider.spec.type} ${wanted}`);
    const event = eventAbout(live, metadata, clock.now());
    const input = { event, alert: live, provider: live, expression: provider.spec.commitStatusExpr ?? "" };
    const commitStatus = of?.class === "commit-status" ? await commitStatusOf(input, signal) : "";
    const hide = (value: string): void => void hidden.push(value);
    const connected = await connectProvider(provider, of, { alert: live, commitStatus, hide, home, parts }, signal);
    await postInTime(connected, event, clock, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) throw error;
    throw new TestEventFailure(safeMessage(maskValues(messageOf(error), hidden)), { cause: error });
  }
}

/** What the metadata of the event has to name, before a type of this class has anything to write to. */
function missingMetadata(of: ProviderClass, metadata: Readonly<Record<string, string>>): string | undefined {
  const names = (key: string): boolean => (metadata[key] ?? "") !== "";
  if (of === "commit-status" && !["commit", "originRevision", "revision"].some(names)) {
    return "sets the status of a commit: name it with --metadata revision=main@sha1:COMMIT";
  }
  if (of === "change-request" && !names("change_request")) {
    return "comments on a pull or merge request: name it with --metadata change_request=NUMBER";
  }
  return undefined;
}

function eventAbout(live: LiveObject, metadata: Readonly<Record<string, string>>, nowMs: number): NotificationEvent {
  const { kind, name, namespace } = refOf(live);
  const { uid, resourceVersion } = live.metadata;
  return {
    involvedObject: {
      ...{ kind, namespace, name, uid, apiVersion: live.apiVersion },
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    severity: "info",
    timestamp: `${new Date(nowMs).toISOString().slice(0, 19)}Z`,
    message: `Test of ${kind} ${namespace}/${name} by sluice notify test`,
    reason: "Test",
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    reportingController: "sluice",
    reportingInstance: "sluice-notify-test",
  };
}
