import type { Secret } from "../secret.ts";
import { PortError } from "./port-error.ts";

/** A data key as an encrypted file carries it: one entry of `sops.kms`. The key that sealed it never leaves its service. */
export interface SealedDataKey {
  /** The ARN of the KMS key or alias that sealed it. */
  readonly sealedBy: string;
  /** The ARN of a role that may use the key, if the file names one: it is assumed first. */
  readonly role?: string | undefined;
  readonly ciphertext: Uint8Array;
  /** The encryption context of the data key. Not secret; decryption needs the same context. */
  readonly context: Readonly<Record<string, string>>;
}

/**
 * Who asks. `installation`: our own identity, which an installation lends to a namespace of a cluster for listed keys alone. `static`:
 * credentials of the tenant. `account`: the role of a service account of the tenant, by a token that the cluster issues for it.
 */
export type KeyIdentity =
  | { readonly kind: "installation"; readonly cluster: string; readonly namespace: string }
  | {
      readonly kind: "static";
      readonly accessKeyId: string;
      readonly secretAccessKey: Secret;
      readonly sessionToken: Secret | undefined;
    }
  | {
      readonly kind: "account";
      readonly namespace: string;
      readonly name: string;
      /** `arn:<partition>:iam::<account>:role/<name>` */
      readonly role: string;
      /** A token of the service account for the audience `sts.amazonaws.com`. */
      readonly token: () => Promise<Secret>;
    };

/** Opens data keys, and does nothing else with the keys that sealed them. */
export interface DataKeys {
  /**
   * The data key in base64. Data keys from AWS are cached as long as the object lives. Changes nothing, so it may be repeated. Throws a
   * {@link DataKeyError}, or the reason `signal` was aborted with.
   */
  open(sealed: SealedDataKey, identity: KeyIdentity, signal: AbortSignal): Promise<Secret>;
}

/**
 * `denied`: we may not use the key. `malformed`: not a sealed data key. `mismatched`: sealed by another key or for another
 * context, or changed since. `missing`: there is no such key. `unusable`: the key is disabled or about to be deleted.
 * `unavailable`: it may work later.
 */
export type DataKeyErrorReason = "denied" | "malformed" | "mismatched" | "missing" | "unavailable" | "unusable";

/** A data key could not be opened. The message names the key that sealed it and contains nothing of the data key. */
export class DataKeyError extends PortError<DataKeyErrorReason> {
  override readonly name = "DataKeyError";
}
