import { randomBytes } from "node:crypto";
import { kubernetesTime } from "./kubernetes-time.ts";
import type { LiveObject, Manifest } from "./manifest.ts";
import { safeMessage, safeText } from "./safe-text.ts";

/** An Event of Kubernetes that is ready to be sent. */
export interface ReportedEvent extends Manifest {
  readonly involvedObject: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** RFC 3339, whole seconds. */
  readonly lastTimestamp: string;
  readonly reportingComponent: string;
  readonly reportingInstance: string;
}

/** The facts about an object in an {@link eventManifest}. */
export interface EventWords {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** Keys are whole annotation keys. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** The Event about an object, under the name of the Flux controller that users look for (`source`). @param now milliseconds since 1970 */
export function eventManifest(object: LiveObject, event: EventWords, source: string, now: number): ReportedEvent {
  const { name, namespace = "default", uid, resourceVersion = "" } = object.metadata;
  const at = kubernetesTime(now);
  const annotations = Object.entries(event.annotations).map(([key, value]) => [key, safeText(value)] as const);
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: {
      name: `${name.slice(0, 200).replace(/[-.]+$/, "")}.${randomBytes(8).toString("hex")}`,
      namespace,
      annotations: Object.fromEntries(annotations),
    },
    involvedObject: { apiVersion: object.apiVersion, kind: object.kind, name, namespace, uid, resourceVersion },
    type: event.type,
    reason: event.reason,
    message: safeMessage(event.message),
    source: { component: source },
    reportingComponent: source,
    reportingInstance: "sluice",
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
}
