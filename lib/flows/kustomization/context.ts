import { declaredKustomization } from "../../api/kinds/kustomization.ts";
import type { ReconciledKinds } from "../../api/kinds/unreconciled.ts";
import { type Kustomization, parseKustomization, readForEnd } from "../../api/kustomization.ts";
import { KustomizationStatus } from "../../api/kustomization-status.ts";
import { kustomizeGroup, requestedAtAnnotation } from "../../api/names.ts";
import type { ApplyRules } from "../../apply/set/apply-rules.ts";
import type { Cel } from "../../cel/cel.ts";
import type { Digest } from "../../core/digest.ts";
import type { Cause } from "../../core/event-relation.ts";
import { Failure, type Reason, type Retry } from "../../core/failure.ts";
import type { FeatureGates } from "../../core/feature-gates.ts";
import { type LiveObject, type Manifest, refOf } from "../../core/manifest.ts";
import type { History } from "../../core/ports/history.ts";
import { asTarget, type HomeCluster, type TargetCluster } from "../../core/ports/home-and-target.ts";
import type { Http } from "../../core/ports/http.ts";
import type { InventoryOwner, InventoryStore } from "../../core/ports/inventory-store.ts";
import type { Ledger } from "../../core/ports/ledger.ts";
import type { Run } from "../../core/ports/run.ts";
import type { Secret } from "../../core/secret.ts";
import { leasedCluster } from "../../gate/leased-cluster.ts";
import type { BuildInput } from "../../manifests/build/build-input.ts";
import type { KeyParts } from "../../sops/keys/key-parts.ts";
import type { FlowDeps } from "../flow-deps.ts";
import type { TenantPlace } from "../owner/config-map-target.ts";
import { inventoryUid } from "../owner/inventory-uid.ts";
import { hasKubeConfig } from "../owner/kube-config-field.ts";
import type { RemoteTarget } from "../owner/remote-target.ts";
import { type EventToRecord, reportEvent } from "../record-event.ts";
import type { SourceKinds } from "../source/read-source.ts";
import { statusPatch } from "../status-patch.ts";
import type { ObjectCache } from "./object-cache.ts";
import { type ToldObjects, toldObjects } from "./told-objects.ts";

/** The outside services of the reconcile of a Kustomization. */
export interface KustomizationDeps extends FlowDeps {
  /**
   * The cluster of a Kustomization without `spec.kubeConfig`, with the rights of its service account; each write to it passes the
   * home's gate.
   */
  readonly targetOf: (kustomization: LiveObject, signal: AbortSignal) => Promise<TargetCluster>;
  /** The same for one with `spec.kubeConfig`, see {@link openRemoteTarget}. */
  readonly remoteTargetOf: (
    kustomization: LiveObject,
    place: TenantPlace,
    signal: AbortSignal,
  ) => Promise<RemoteTarget>;
  /** The objects of home clusters as this process last read them. */
  readonly objects: ObjectCache;
  /** Flux's flag of this name: the service account of a Kustomization that names none. Empty: Sluice's own rights. */
  readonly defaultServiceAccount: string;
  readonly inventories: InventoryStore;
  readonly ledger: Ledger;
  readonly history: History;
  readonly cel: Pick<Cel, "withBudget">;
  /** The key for the digests in inventories, and for digests in a status from which a secret could be guessed otherwise. */
  readonly installationKey: Secret;
  /** Requests to the API server at the same time within one run. */
  readonly concurrency: number;
  /** Flux's flags `override-manager` and `custom-apply-stage-kinds`. */
  readonly applyRules: Pick<ApplyRules, "customStageKinds" | "overrideManagers">;
  /** The kinds that this installation reconciles: it reports objects of Flux's other kinds. */
  readonly reconciled: ReconciledKinds;
  /** The kinds of source that can be read. */
  readonly sources: SourceKinds;
  /** Flux's flag of this name: a source of another namespace than the Kustomization's is refused. */
  readonly noCrossNamespaceRefs: boolean;
  /** A failed health check says why, after Flux's text. */
  readonly explainHealthFailures: boolean;
  /** The sources of decryption keys, apart from the Secret of a Kustomization. */
  readonly sopsKeys: Omit<KeyParts, "home">;
  /** Named after sops' own flag: the message authentication codes of encrypted files are not checked, as in Flux. */
  readonly sopsIgnoreMac: boolean;
  readonly gates: FeatureGates;
  /** To the servers of ExternalArtifacts. */
  readonly http: Pick<Http, "send">;
  /**
   * Builds the manifests of an artifact; undefined if the artifact is not there. Throws a `Failure` with reason `BuildFailed` or
   * `ArtifactFailed`.
   */
  readonly build: (input: BuildInput, signal: AbortSignal) => Promise<BuiltManifests | undefined>;
}

export interface BuiltManifests {
  /** With owner labels and common metadata, in the order of the build. */
  readonly manifests: readonly Manifest[];
  /** Over the built text, as Flux's history has it. */
  readonly digest: Digest;
  /** Whether that text may contain data of a Secret, so that its digest is not shown. */
  readonly carriesSecret: boolean;
  /** Values of Secrets that were substituted in the manifests: no text shows them. */
  readonly secrets: readonly string[];
}

/** The Kustomization of one run, its status, and the two clusters as this run may write to them. */
export interface KustomizationContext {
  readonly live: LiveObject;
  readonly kustomization: Kustomization;
  readonly name: string;
  readonly namespace: string;
  readonly generation: number;
  /** The value of the request annotation, to be copied to the status at the end of the run. */
  readonly requestedAt: string | undefined;
  /** Whose inventory and claims these are: both are kept by the uid of the target. */
  readonly owner: InventoryOwner;
  /** The uid of the home cluster; the target's if the Kustomization applies to its own cluster. */
  readonly homeUid: string;
  readonly run: Run;
  readonly deps: KustomizationDeps;
  /** For all expressions of the run, which have one budget. */
  readonly cel: Cel;
  /** Where the Kustomization lives. Writes only while the run holds its lease. */
  readonly home: HomeCluster;
  /** Where its objects are applied. Writes only while the run holds its lease. That of `spec.kubeConfig` has to be opened before. */
  readonly target: TargetCluster;
  /** The cluster of `spec.kubeConfig`; `closed`: this run has not opened it yet; undefined: it names none. */
  readonly remote: RemoteTarget | "closed" | undefined;
  /** The status as it stands in the cluster after the last {@link KustomizationContext.write}. */
  status(): KustomizationStatus;
  /** Writes what differs; a status that says nothing new is not written. */
  write(status: KustomizationStatus): Promise<void>;
  /**
   * Sends an event after those before it, while the run continues. If the API server refuses it, it is logged and left out: nothing
   * depends on it.
   */
  record(event: EventToRecord): void;
  readonly told: ToldObjects;
  /** Resolves once all events are sent; rejects if the lease is lost or the run is aborted before that. */
  eventsSent(): Promise<void>;
}

/** Something that the run needs is not there or not allowed, so it ends before it works on the revision. */
export interface Blocked {
  readonly kind: "blocked";
  readonly reason: Reason;
  readonly message: string;
  readonly retry: Retry;
  /** The event to report, if Flux reports one. */
  readonly event?: Pick<EventToRecord, "type" | "message">;
  /** The object that has to be ready first, with the reason of its Ready condition; undefined if that is not the cause. */
  readonly waitsFor?: { readonly cause: Cause; readonly why?: string };
  /** Which revision the event is about, where that is known. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** What the object names does not exist: its run has failed, since no other run reports it. */
  readonly isMissing?: boolean;
  /** Only a change of the object helps: Stalled as well. */
  readonly stalled?: boolean;
  /** Stalled by the installation's settings: the generation is not finished, as in Flux. */
  readonly isUnobserved?: boolean;
}

function kustomizationContext(
  live: LiveObject,
  kustomization: Kustomization,
  clusters: Pick<KustomizationContext, "home" | "homeUid" | "remote" | "target"> & { readonly targetUid: string },
  { run, deps }: { readonly run: Run; readonly deps: KustomizationDeps },
): KustomizationContext {
  let status = kustomization.status;
  let events = Promise.resolve();
  const { home, homeUid, remote, target, targetUid } = clusters;
  const { name, namespace = "", uid, generation = 0 } = live.metadata;
  return {
    live,
    kustomization,
    name,
    namespace,
    generation,
    requestedAt: live.metadata.annotations?.[requestedAtAnnotation],
    owner: { uid, clusterUid: targetUid, generation },
    homeUid,
    run,
    deps,
    cel: deps.cel.withBudget(run.key),
    home,
    target,
    remote,
    status: () => status,
    write: async (next) => {
      const body = statusPatch(status, next);
      if (body === undefined) return;
      const options = { manager: declaredKustomization.statusManager, subresource: "status" };
      await home.patch(refOf(live), { type: "merge", body: { status: body } }, options, run.signal);
      status = next;
    },
    record: (event) => {
      events = events.then(() => reportEvent(home, live, event, declaredKustomization.eventSource, run, deps));
      // The error is thrown to the caller that waits for the events, and must not end the process before.
      events.catch(() => undefined);
    },
    told: toldObjects(run.carried),
    eventsSent: () => events,
  };
}

/** An object that a run can work on, or whose fault it can report. */
interface Loaded {
  readonly ctx: KustomizationContext;
  /** Why its spec cannot be read. */
  readonly fault?: Blocked;
}

/** Loads the object. Undefined if it is gone: then its subscriptions end. */
export async function load(run: Run, deps: KustomizationDeps): Promise<Loaded | undefined> {
  const { key, signal } = run;
  const home = leasedCluster(deps.home, run);
  const live = await home.get({ ...key, group: kustomizeGroup, version: "v1" }, signal);
  if (live === undefined) {
    await deps.subscriptions.subscribe([], run.fence, signal);
    return undefined;
  }
  const clusters = await clustersOf(live, home, run, deps);
  try {
    return { ctx: kustomizationContext(live, parseKustomization(live), clusters, { run, deps }) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const ending = live.metadata.deletionTimestamp === undefined ? undefined : readForEnd(live);
    if (ending !== undefined) return { ctx: kustomizationContext(live, ending, clusters, { run, deps }) };
    const ctx = kustomizationContext(live, unreadable(live), clusters, { run, deps });
    const { reason, message } = error;
    return { ctx, fault: invalid(reason, message) };
  }
}

async function clustersOf(live: LiveObject, home: HomeCluster, run: Run, deps: KustomizationDeps) {
  const homeUid = await home.uid(run.signal);
  if (hasKubeConfig(live)) return { home, homeUid, target: closedTarget, targetUid: "", remote: "closed" } as const;
  const { signal } = run;
  const target = leasedCluster(await deps.targetOf(live, signal), run);
  return { home, homeUid, target, targetUid: await target.uid(signal), remote: undefined };
}

const notOpen = async (): Promise<never> => {
  throw new Error("the cluster of spec.kubeConfig was not opened");
};
const closedTarget = asTarget({
  ...{ uid: notOpen, resource: notOpen, served: notOpen, get: notOpen, list: notOpen, listMetadata: notOpen },
  ...{ apply: notOpen, create: notOpen, patch: notOpen, delete: notOpen },
  watch: () => {
    throw new Error("the cluster of spec.kubeConfig was not opened");
  },
});

/**
 * The context with the target open. Not done while loading: Flux reports a cluster that cannot be opened after the source and the
 * dependencies, and a run that does not get that far needs no Secret and no other cluster.
 *
 * @throws TargetFault if `spec.kubeConfig` cannot be used, or if it is unclear which cluster it points to; an outage if the cluster
 * does not answer
 */
export async function openTarget(ctx: KustomizationContext): Promise<KustomizationContext> {
  if (ctx.remote !== "closed") return ctx;
  const { deps, home, live, owner, run } = ctx;
  const remote = await deps.remoteTargetOf(live, { home, cluster: run.key.cluster }, run.signal);
  const clusterUid = await inventoryUid(remote, ctx);
  // A prune checks again which cluster it is about to delete in.
  const target = leasedCluster({ ...remote.cluster, uid: async () => clusterUid }, run);
  return { ...ctx, remote, target, owner: { ...owner, clusterUid } };
}

/** Stands for an object with an unreadable spec: as suspended, so that nothing in it counts as an instruction. */
function unreadable(live: LiveObject): Kustomization {
  const sourceRef = { kind: "OCIRepository", name: "" } as const;
  return {
    metadata: live.metadata,
    spec: { interval: "1h", prune: false, force: false, suspend: true, sourceRef },
    status: KustomizationStatus.safeParse(live["status"] ?? {}).data ?? {},
  };
}

/** A fault that only a change of the object mends. */
export function invalid(reason: Failure["reason"], message: string): Blocked {
  return { kind: "blocked", reason, message, retry: "never", stalled: true, event: { type: "Warning", message } };
}
