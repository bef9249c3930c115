import type { Secret } from "../secret.ts";
import { PortError } from "./port-error.ts";

/** The bucket of a login, and the object that needs it. */
export interface BucketLoginRequest {
  readonly bucket: string;
  /** The id of the object's cluster. */
  readonly cluster: string;
  /** The namespace of the object: an installation lends its own identity only where its settings allow. */
  readonly namespace: string;
}

/** An identity that signs requests to S3, and its home region. */
export interface BucketIdentity {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  readonly sessionToken?: Secret | undefined;
  readonly region: string;
}

/** Logs in to a bucket with a cloud identity, for objects whose `spec.provider` names that cloud. */
export interface BucketLogin {
  /** Throws a {@link BucketLoginError}, or the reason `signal` was aborted with. */
  credentials(request: BucketLoginRequest, signal: AbortSignal): Promise<BucketIdentity>;
}

/** `not-allowed`: the installation does not lend its identity for this bucket. `failed`: the cloud gave no identity. */
export type BucketLoginErrorReason = "failed" | "not-allowed";

/** No login, in the words that the object's status shows. */
export class BucketLoginError extends PortError<BucketLoginErrorReason> {
  override readonly name = "BucketLoginError";
}
