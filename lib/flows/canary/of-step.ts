import { StepFault } from "../../canary/step-fault.ts";
import { Failure } from "../../core/failure.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import { isOutage } from "../../core/ports/outage.ts";

/**
 * Whether an error ends a step and is reported by a Warning event; the step is then tried again at the next interval. An outage is
 * not the step's fault: its run is tried again after a back-off.
 */
export function isOfStep(error: unknown): error is ApiError | Failure | StepFault {
  if (error instanceof StepFault || error instanceof Failure) return true;
  return error instanceof ApiError && !isOutage(error);
}
