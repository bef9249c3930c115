import { Failure, type Reason } from "../../core/failure.ts";
import { HttpError } from "../../core/ports/http.ts";
import { RegistryLoginError } from "../../core/ports/registry-login.ts";
import { RegistryFault } from "./registry-fault.ts";

/** A `Failure` for what a registry or the login to it did; whatever else was thrown (a bug, the end of the run) is handed back as it is. */
export function failureOf(reason: Reason, message: string, error: unknown, signal: AbortSignal): unknown {
  signal.throwIfAborted();
  const isForeseen =
    error instanceof RegistryFault || error instanceof HttpError || error instanceof RegistryLoginError;
  if (!isForeseen) return error;
  return new Failure(reason, message, { cause: error });
}
