import { declaredReceiver } from "../../api/kinds/receiver.ts";
import type { ReconciledKinds } from "../../api/kinds/unreconciled.ts";
import { requestedAtAnnotation } from "../../api/names.ts";
import type { ReceiverStatus } from "../../api/receiver.ts";
import type { Cel } from "../../cel/cel.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import type { ReceiverIndex } from "../../core/ports/receiver-index.ts";
import type { Run } from "../../core/ports/run.ts";
import type { FlowDeps } from "../flow-deps.ts";
import { type EventToRecord, reportEvent } from "../record-event.ts";
import { statusPatch } from "../status-patch.ts";

/** The outside services of the reconcile of a Receiver. */
export interface ReceiverDeps extends FlowDeps {
  readonly cel: Pick<Cel, "withBudget">;
  readonly receivers: ReceiverIndex;
  /** The kinds that this installation reconciles and a webhook can wake. */
  readonly reconciled: ReconciledKinds;
  /** Flux's flag of this name: resources of other namespaces than the Receiver's are refused. */
  readonly noCrossNamespaceRefs: boolean;
}

/** The Receiver of one run. */
export interface ReceiverContext {
  readonly live: LiveObject;
  readonly name: string;
  readonly namespace: string;
  readonly run: Run;
  readonly deps: ReceiverDeps;
  /** Takes writes only while the run holds its lease. */
  readonly home: HomeCluster;
  /** The status as the run found it. */
  readonly before: ReceiverStatus;
}

/** Writes what differs from the status in the cluster, and that the request for the run was handled. Answers whether it did. */
export async function publish(status: ReceiverStatus, ctx: ReceiverContext): Promise<boolean> {
  const { before, home, live, run } = ctx;
  const handled = requestedAt(ctx);
  const next = handled === undefined ? status : { ...status, lastHandledReconcileAt: handled };
  const body = statusPatch(before, next);
  if (body === undefined) return false;
  const options = { manager: declaredReceiver.statusManager, subresource: "status" };
  await home.patch(refOf(live), { type: "merge", body: { status: body } }, options, run.signal);
  return true;
}

/** The value of the annotation that asks for a run. */
function requestedAt({ live }: ReceiverContext): string | undefined {
  return live.metadata.annotations?.[requestedAtAnnotation];
}

/** The generation of the object and the time, for conditions. */
export function now({ deps, live }: ReceiverContext): { readonly generation: number; readonly at: number } {
  return { generation: live.metadata.generation ?? 0, at: deps.clock.now() };
}

/** Records an event. If the API server does not accept an event, it is logged and left out. */
export async function record(event: EventToRecord, { deps, home, live, run }: ReceiverContext): Promise<void> {
  await reportEvent(home, live, event, declaredReceiver.eventSource, run, deps);
}
