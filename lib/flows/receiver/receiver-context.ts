import type { ReconciledKinds } from "../../api/kinds/unreconciled.ts";
import type { ReceiverStatus } from "../../api/receiver.ts";
import type { Cel } from "../../cel/cel.ts";
import type { ReceiverIndex } from "../../core/ports/receiver-index.ts";
import type { FlowDeps } from "../flow-deps.ts";
import type { RunContext } from "../run-context.ts";

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
export type ReceiverContext = RunContext<ReceiverStatus, ReceiverDeps>;
