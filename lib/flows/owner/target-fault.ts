import { Failure } from "../../core/failure.ts";

/** The cluster that `spec.kubeConfig` names cannot be used, in Flux's words. */
export class TargetFault extends Failure {
  /** The text of Flux's event, which is longer than the condition's. */
  readonly event: string;
  /** The Secret or ConfigMap that `spec.kubeConfig` names does not exist. */
  readonly isGone: boolean;

  constructor(message: string, options: ErrorOptions & { event?: string; isGone?: boolean } = {}) {
    super("ReconciliationFailed", message, options);
    this.event = options.event ?? message;
    this.isGone = options.isGone ?? false;
  }
}

/** Flux could not make a client. */
export function noClient(message: string, cause?: unknown, isGone = false): TargetFault {
  return new TargetFault(message, { cause, event: `failed to build kube client: ${message}`, isGone });
}
