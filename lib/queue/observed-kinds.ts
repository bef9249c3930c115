import { type ServedKind, servedKind } from "../api/kinds/declaration.ts";
import { declaredExternalArtifact } from "../api/kinds/external-artifact.ts";
import type { FeatureGates } from "../core/feature-gates.ts";
import type { Metadata } from "../core/manifest.ts";
import type { ReconcileRequests } from "../core/ports/reconcile-requests.ts";
import type { Subscriptions } from "../core/ports/subscriptions.ts";
import { configTopic, sourceTopic } from "../core/topics.ts";
import type { WorkKey } from "../core/work-key.ts";
import type { ObserveDeps } from "./observe-resource.ts";

/** A kind whose objects are watched and swept. Of the kinds that Sluice reconciles nothing else has to be said. */
export interface ObservedKind extends ServedKind {
  /** The only objects that are looked at, in the API's notation; absent: all. */
  readonly labelSelector?: string;
  /** When an object counts as changed, and who runs then; absent: as for a custom resource, which runs itself. */
  readonly observe?: Required<Pick<ObserveDeps, "requests" | "summaryOf">>;
}

/**
 * ConfigMaps and Secrets with these labels: if one is created, changed or deleted, or gets or loses the labels, the objects run that
 * subscribe to it. Only its metadata is read. Without a selector there are none.
 */
export function configKinds(labelSelector: string | undefined, deps: Announced): readonly ObservedKind[] {
  if (labelSelector === undefined) return [];
  return (["ConfigMap", "Secret"] as const).map((kind) => ({
    ...{ group: "", version: "v1", kind, labelSelector },
    observe: {
      requests: subscribersOf(kind, (key) => configTopic({ ...key, kind }), deps),
      summaryOf: summaryOfConfig,
    },
  }));
}

/** ExternalArtifacts: whatever is written to one, the objects run that have it as their source. Only its metadata is read. */
export function externalArtifactKinds(
  gates: Pick<FeatureGates, "ExternalArtifact">,
  deps: Announced,
): readonly ObservedKind[] {
  if (!gates.ExternalArtifact) return [];
  const { kind } = declaredExternalArtifact;
  const requests = subscribersOf(kind, sourceTopic, deps);
  return [{ ...servedKind(declaredExternalArtifact), observe: { requests, summaryOf: summaryOfConfig } }];
}

interface Announced {
  readonly subscriptions: Pick<Subscriptions, "subscribers">;
  readonly requests: ReconcileRequests;
}

function subscribersOf(
  kind: string,
  topicOf: (key: WorkKey) => string,
  { subscriptions, requests }: Announced,
): ReconcileRequests {
  return {
    async request(key, reason, signal) {
      for (const subscriber of await subscriptions.subscribers(topicOf(key), signal)) {
        await requests.request(subscriber, `${kind}/${key.name}: ${reason}`, signal);
      }
    },
  };
}

/** Every write counts, as in Flux: whether the contents differ cannot be told from the metadata. */
function summaryOfConfig({ uid = "", resourceVersion = "" }: Metadata): string {
  return JSON.stringify([uid, resourceVersion]);
}
