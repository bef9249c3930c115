import { Failure, type Reason } from "../../core/failure.ts";
import { HttpError } from "../../core/ports/http.ts";
import { RegistryFault } from "./registry-fault.ts";

/** A `Failure` for what a registry did; whatever else was thrown (a bug, the end of the run) is handed back as it is. */
export function failureOf(reason: Reason, message: string, error: unknown, signal: AbortSignal): unknown {
  signal.throwIfAborted();
  if (!(error instanceof RegistryFault || error instanceof HttpError)) return error;
  return new Failure(reason, message, { cause: error });
}
