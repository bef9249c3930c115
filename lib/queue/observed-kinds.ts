import { canaryTargets } from "../api/canary-targets.ts";
import { declaredCanary } from "../api/kinds/canary.ts";
import { type ServedKind, servedKind } from "../api/kinds/declaration.ts";
import { declaredExternalArtifact } from "../api/kinds/external-artifact.ts";
import type { FeatureGates } from "../core/feature-gates.ts";
import type { Metadata } from "../core/manifest.ts";
import type { ReconcileRequests } from "../core/ports/reconcile-requests.ts";
import type { Subscriptions } from "../core/ports/subscriptions.ts";
import { configTopic, objectTopic, sourceTopic } from "../core/topics.ts";
import type { WorkKey } from "../core/work-key.ts";
import type { ObserveDeps } from "./observe-resource.ts";

/** A kind whose objects are watched and swept. For kinds that Sluice reconciles, nothing else is needed. */
export interface ObservedKind extends ServedKind {
  /** A selector of the objects that are read, in the API's notation. Unset: all objects. */
  readonly labelSelector?: string;
  /** When an object counts as changed, and who runs then; absent: as for a custom resource, which runs itself. */
  readonly observe?: Required<Pick<ObserveDeps, "requests" | "summaryOf">>;
  /** Only objects in the namespaces of this kind's are looked at; nothing is asked for while there is none. It comes earlier in the list. */
  readonly beside?: Pick<ServedKind, "group" | "kind">;
  /** The group in the keys of its summaries, where its objects are observed in another way too. */
  readonly observedAs?: string;
}

/** The key under which the summary of an object is kept. */
export function observedKey(
  { group, kind, observedAs = group }: ObservedKind,
  cluster: string,
  { namespace = "", name }: Pick<Metadata, "name" | "namespace">,
): WorkKey {
  return { cluster, group: observedAs, kind, namespace, name };
}

/**
 * ConfigMaps and Secrets with these labels: if one is created, changed or deleted, or gets or loses the labels, the objects run that
 * subscribe to it, Canaries too. Only its metadata is read. Without a selector there are none.
 */
export function configKinds(labelSelector: string | undefined, deps: Announced): readonly ObservedKind[] {
  if (labelSelector === undefined) return [];
  return (["ConfigMap", "Secret"] as const).map((kind) => ({
    ...{ group: "", version: "v1", kind, labelSelector },
    observe: {
      requests: subscribersOf(kind, (key) => [configTopic({ ...key, kind }), objectTopic(key)], deps),
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
  const requests = subscribersOf(kind, (key) => [sourceTopic(key)], deps);
  return [{ ...servedKind(declaredExternalArtifact), observe: { requests, summaryOf: summaryOfConfig } }];
}

const { group: canaryGroup, kind: canaryName } = declaredCanary;
const canaryKind = { group: canaryGroup, kind: canaryName };
const targetGroup = `targets.${canaryGroup}`;

/**
 * What Canaries release, and the ConfigMaps and Secrets of that, in the namespaces that have Canaries: the Canaries run that subscribe to it
 * when it is created, changed or deleted (docs/maintainers/adr/0058-a-canary-at-rest-costs-nothing.md). Only its metadata is read.
 *
 * @param kinds those that are reconciled: without Canary there are none
 */
export function targetKinds(
  kinds: readonly Pick<ServedKind, "group" | "kind">[],
  deps: Announced,
): readonly ObservedKind[] {
  if (!kinds.some(({ group, kind }) => group === canaryKind.group && kind === canaryKind.kind)) return [];
  return canaryTargets.map(({ group, kind }) => ({
    ...{ group, version: "v1", kind, beside: canaryKind, observedAs: targetGroup },
    observe: {
      requests: subscribersOf(kind, (key) => [objectTopic({ ...key, group })], deps),
      summaryOf: summaryOfTarget,
    },
  }));
}

interface Announced {
  readonly subscriptions: Pick<Subscriptions, "subscribers">;
  readonly requests: ReconcileRequests;
}

function subscribersOf(
  kind: string,
  topicsOf: (key: WorkKey) => readonly string[],
  { subscriptions, requests }: Announced,
): ReconcileRequests {
  return {
    async request(key, reason, signal) {
      for (const topic of topicsOf(key)) {
        for (const subscriber of await subscriptions.subscribers(topic, signal)) {
          await requests.request(subscriber, `${kind}/${key.name}: ${reason}`, signal);
        }
      }
    },
  };
}

/** A status changes nothing for a Canary. Kinds without a generation have none, so each of their writes counts. */
function summaryOfTarget({ uid = "", generation, resourceVersion = "" }: Metadata): string {
  return JSON.stringify([uid, generation ?? resourceVersion]);
}

/** Every write counts, as in Flux: whether the contents differ cannot be told from the metadata. */
function summaryOfConfig({ uid = "", resourceVersion = "" }: Metadata): string {
  return JSON.stringify([uid, resourceVersion]);
}
