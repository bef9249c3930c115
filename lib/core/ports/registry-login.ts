import type { Secret } from "../secret.ts";

/** Whose login is asked for, and where. */
export interface RegistryLoginRequest {
  /** `host` or `host:port`. */
  readonly host: string;
  /** Inside that registry. */
  readonly repository: string;
  /** Of the object that wants it: an installation lends its own identity only where it says so. */
  readonly namespace: string;
}

/** The login to a registry that an identity of a cloud gets, for objects whose `spec.provider` names that cloud. */
export interface RegistryLogin {
  /** Throws a {@link RegistryLoginError}, or the reason `signal` was aborted with. */
  credentials(
    request: RegistryLoginRequest,
    signal: AbortSignal,
  ): Promise<{ readonly username: string; readonly password: Secret }>;
}

/** No login, in the words that the object's status tells. */
export class RegistryLoginError extends Error {
  override readonly name = "RegistryLoginError";
}
