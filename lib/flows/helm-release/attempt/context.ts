import type { HelmRelease } from "../../../api/helm-release.ts";
import type { HelmReleaseStatus } from "../../../api/helm-release-status.ts";
import type { ReconciledKinds } from "../../../api/kinds/unreconciled.ts";
import type { ApplyRules } from "../../../apply/set/apply-rules.ts";
import type { Cel } from "../../../cel/cel.ts";
import type { FeatureGates } from "../../../core/feature-gates.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import type { HelmEngine } from "../../../core/ports/helm-engine.ts";
import type { HomeCluster, TargetCluster } from "../../../core/ports/home-and-target.ts";
import type { Http } from "../../../core/ports/http.ts";
import type { InventoryOwner, InventoryStore } from "../../../core/ports/inventory-store.ts";
import type { Ledger } from "../../../core/ports/ledger.ts";
import type { Run } from "../../../core/ports/run.ts";
import type { Secret } from "../../../core/secret.ts";
import type { FlowDeps } from "../../flow-deps.ts";
import type { TenantPlace } from "../../owner/config-map-target.ts";
import type { RemoteTarget } from "../../owner/remote-target.ts";
import type { EventToRecord } from "../../record-event.ts";
import type { SourceKinds } from "../../source/read-source.ts";

/** The outside services of the reconcile of a HelmRelease. */
export interface HelmReleaseDeps extends FlowDeps {
  readonly helm: HelmEngine;
  readonly inventories: InventoryStore;
  readonly ledger: Ledger;
  readonly cel: Pick<Cel, "withBudget">;
  readonly installationKey: Secret;
  /** Requests to the API server at the same time within one run. */
  readonly concurrency: number;
  readonly applyRules: Pick<ApplyRules, "overrideManagers">;
  readonly sources: SourceKinds;
  readonly noCrossNamespaceRefs: boolean;
  readonly defaultServiceAccount: string;
  readonly gates: FeatureGates;
  /** The kinds that this installation reconciles. */
  readonly reconciled: ReconciledKinds;
  /** To the servers of ExternalArtifacts. */
  readonly http: Pick<Http, "send">;
  /** The cluster of a HelmRelease without `spec.kubeConfig`, with the rights of its service account. */
  readonly targetOf: (release: LiveObject, signal: AbortSignal) => Promise<TargetCluster>;
  /** The same for one with `spec.kubeConfig`. */
  readonly remoteTargetOf: (release: LiveObject, place: TenantPlace, signal: AbortSignal) => Promise<RemoteTarget>;
}

/** The HelmRelease of one run, its status, and the two clusters as this run may write to them. Shaped as that of a Kustomization. */
export interface HelmReleaseContext {
  readonly live: LiveObject;
  readonly release: HelmRelease;
  readonly name: string;
  readonly namespace: string;
  readonly generation: number;
  /** The value of the request annotation, to be copied to the status at the end of the run. */
  readonly requestedAt: string | undefined;
  readonly owner: InventoryOwner;
  readonly homeUid: string;
  readonly run: Run;
  readonly deps: HelmReleaseDeps;
  readonly cel: Cel;
  readonly home: HomeCluster;
  readonly target: TargetCluster;
  /** The cluster of `spec.kubeConfig`; `closed`: not opened yet; undefined: it names none. */
  readonly remote: RemoteTarget | "closed" | undefined;
  /** The status as this run has last written or noted it. */
  status(): HelmReleaseStatus;
  /** Changes the status without a request: the next write brings it to the cluster, at the latest that at the end of the run. */
  note(status: HelmReleaseStatus): void;
  /** Writes what differs from the status in the cluster. */
  write(status: HelmReleaseStatus): Promise<void>;
  record(event: EventToRecord): void;
  eventsSent(): Promise<void>;
}
