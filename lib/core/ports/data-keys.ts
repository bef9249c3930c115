import type { Secret } from "../secret.ts";
import { PortError } from "./port-error.ts";

/** A data key as an encrypted file carries it: one entry of `sops.kms`. The key that sealed it never leaves its service. */
export interface SealedDataKey {
  /** What sealed it: the ARN of a key of KMS or of an alias. */
  readonly sealedBy: string;
  readonly ciphertext: Uint8Array;
  /** What it was bound to when it was sealed. No secret; no other context opens it. */
  readonly context: Readonly<Record<string, string>>;
}

/** Opens data keys, and does nothing else with the keys that sealed them. */
export interface DataKeys {
  /**
   * The data key in base64. `namespace`: of the object that wants it opened, since an installation lends its own identity only
   * where it says so. Changes nothing, so it may be repeated. Throws a {@link DataKeyError}, or the reason `signal` was aborted with.
   */
  open(sealed: SealedDataKey, namespace: string, signal: AbortSignal): Promise<Secret>;
}

/**
 * `denied`: we may not use the key. `malformed`: this is no sealed data key. `mismatched`: sealed by another
 * key or for another context, or changed since. `missing`: there is no such key. `unusable`: it is disabled, or about to be
 * deleted. `unavailable`: later it may work.
 */
export type DataKeyErrorKind = "denied" | "malformed" | "mismatched" | "missing" | "unavailable" | "unusable";

/** A data key that stays closed. The message names the key that sealed it, and holds nothing of the data key. */
export class DataKeyError extends PortError<DataKeyErrorKind> {
  override readonly name = "DataKeyError";
}
