import type { Secret } from "../secret.ts";

/** Tokens of the service accounts of one cluster, as its TokenRequest API issues them. */
export interface AccountTokens {
  /**
   * A token of this account for these audiences, with the cluster's default lifetime (an hour). Throws an `ApiError`, or the reason
   * `signal` was aborted with.
   */
  issue(
    account: { readonly namespace: string; readonly name: string },
    audiences: readonly string[],
    signal: AbortSignal,
  ): Promise<Secret>;
}
