import type { Kustomization } from "../../api/kustomization.ts";
import type { KustomizationStatus } from "../../api/kustomization-status.ts";
import { kustomizationStatusManager, requestedAtAnnotation } from "../../api/names.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { refOf } from "../../core/manifest.ts";
import type { Cluster } from "../../core/ports/cluster.ts";
import type { InventoryOwner } from "../../core/ports/inventory-store.ts";
import type { Run } from "../../core/run.ts";
import { type EventToRecord, tellUsers } from "../record-event.ts";
import { statusPatch } from "../status-patch.ts";
import type { KustomizationDeps } from "./deps.ts";

/** The Kustomization of one run, what is said of it, and the cluster as this run may write to it. */
export interface SubjectOfRun {
  readonly live: LiveObject;
  readonly kustomization: Kustomization;
  readonly name: string;
  readonly namespace: string;
  readonly generation: number;
  /** The value of the request annotation, to be copied to the status at the end of the run. */
  readonly requestedAt: string | undefined;
  readonly owner: InventoryOwner;
  readonly run: Run;
  readonly deps: KustomizationDeps;
  /** Writes only while the run holds its lease. */
  readonly cluster: Cluster;
  /** The status as it stands in the cluster after the last {@link SubjectOfRun.write}. */
  status(): KustomizationStatus;
  /** Writes what differs; a status that says nothing new is not written. */
  write(status: KustomizationStatus): Promise<void>;
  /** Tells the users. An event that the API server does not take is logged and left out: it decides nothing. */
  tell(event: EventToRecord): Promise<void>;
}

export function subjectOfRun(
  live: LiveObject,
  kustomization: Kustomization,
  clusterUid: string,
  cluster: Cluster,
  { run, deps }: { readonly run: Run; readonly deps: KustomizationDeps },
): SubjectOfRun {
  let status = kustomization.status;
  const { name, namespace = "", uid, generation = 0 } = live.metadata;
  return {
    live,
    kustomization,
    name,
    namespace,
    generation,
    requestedAt: live.metadata.annotations?.[requestedAtAnnotation],
    owner: { uid, clusterUid, generation },
    run,
    deps,
    cluster,
    status: () => status,
    write: async (next) => {
      const body = statusPatch(status, next);
      if (body === undefined) return;
      const options = { manager: kustomizationStatusManager, subresource: "status" };
      await cluster.patch(refOf(live), { type: "merge", body: { status: body } }, options, run.signal);
      status = next;
    },
    tell: (event) => tellUsers(cluster, live, event, "kustomize-controller", run, deps),
  };
}
