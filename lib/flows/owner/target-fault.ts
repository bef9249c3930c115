import { Failure } from "../../core/failure.ts";

/** The cluster that `spec.kubeConfig` names cannot be used, in Flux's words. */
export class TargetFault extends Failure {
  /** What Flux's event says, which is more than the condition. */
  readonly event: string;

  constructor(message: string, options: ErrorOptions & { event?: string } = {}) {
    super("ReconciliationFailed", message, options);
    this.event = options.event ?? message;
  }
}

/** Flux could not make a client. */
export function noClient(message: string, cause?: unknown): TargetFault {
  return new TargetFault(message, { cause, event: `failed to build kube client: ${message}` });
}
