import type { Secret } from "../secret.ts";
import { PortError } from "./port-error.ts";

/** The repository of a login, and the object that needs it. */
export interface GitLoginRequest {
  readonly url: URL;
  /** The id of the object's cluster. */
  readonly cluster: string;
  /** The namespace of the object: an installation lends its own identity only where its settings allow. */
  readonly namespace: string;
}

/** Logs in to a git repository with a cloud identity, for objects whose `spec.provider` names that cloud. */
export interface GitLogin {
  /** Throws a {@link GitLoginError}, or the reason `signal` was aborted with. */
  credentials(
    request: GitLoginRequest,
    signal: AbortSignal,
  ): Promise<{ readonly username: string; readonly password: Secret }>;
}

/**
 * `not-allowed`: the installation does not lend its identity for this repository. `not-supported`: the cloud has no repository at
 * this URL. `failed`: the cloud gave no identity.
 */
export type GitLoginErrorReason = "failed" | "not-allowed" | "not-supported";

/** No login, in the words that the object's status shows. */
export class GitLoginError extends PortError<GitLoginErrorReason> {
  override readonly name = "GitLoginError";
}
