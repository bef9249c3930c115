import type { Secret } from "../secret.ts";
import { PortError } from "./port-error.ts";

/** The repository of a login, and the object that needs it. */
export interface RegistryLoginRequest {
  /** `host` or `host:port`. */
  readonly host: string;
  /** The path in that registry. */
  readonly repository: string;
  /** The id of the object's cluster. */
  readonly cluster: string;
  /** The namespace of the object that needs it: an installation lends its own identity only where its settings allow. */
  readonly namespace: string;
}

/** Logs in to a registry with a cloud identity, for objects whose `spec.provider` names that cloud. */
export interface RegistryLogin {
  /** Throws a {@link RegistryLoginError}, or the reason `signal` was aborted with. */
  credentials(
    request: RegistryLoginRequest,
    signal: AbortSignal,
  ): Promise<{ readonly username: string; readonly password: Secret }>;
}

/**
 * `not-allowed`: the installation does not lend its identity for this repository. `not-supported`: the identity's cloud has no
 * such registry. `failed`: the cloud gave no login that can be used.
 */
export type RegistryLoginErrorReason = "failed" | "not-allowed" | "not-supported";

/** No login, in the words that the object's status shows. */
export class RegistryLoginError extends PortError<RegistryLoginErrorReason> {
  override readonly name = "RegistryLoginError";
}
