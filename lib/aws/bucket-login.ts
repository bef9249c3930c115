import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { orAborted } from "../core/concurrency.ts";
import { messageOf } from "../core/failure.ts";
import { type BucketLogin, BucketLoginError, type BucketLoginRequest } from "../core/ports/bucket-login.ts";
import { Secret } from "../core/secret.ts";
import type { AwsConnection } from "./aws-connection.ts";

export interface BucketLoginOptions {
  readonly connection: Pick<AwsConnection, "credentials" | "region">;
  /** Whether objects of this namespace of a cluster may use our own identity for this bucket. */
  readonly isAllowed: (tenant: Pick<BucketLoginRequest, "cluster" | "namespace">, bucket: string) => boolean;
}

/** Logs in to buckets of S3 with our own identity (reference sources 8.2), which signs each request; nothing is asked of AWS for it. */
export function bucketLogin({ connection, isAllowed }: BucketLoginOptions): BucketLogin {
  const { credentials = defaultProvider(), region } = connection;
  const identity = typeof credentials === "function" ? credentials : () => Promise.resolve(credentials);
  return {
    async credentials({ bucket, cluster, namespace }, signal) {
      if (!isAllowed({ cluster, namespace }, bucket)) {
        const mend = "add it to the buckets of this cluster in the installation, or give a secretRef";
        const why = `this installation does not lend its AWS identity to namespace ${namespace} for the bucket ${bucket}`;
        throw new BucketLoginError("not-allowed", `${why}: ${mend}`);
      }
      const { accessKeyId, secretAccessKey, sessionToken } = await orAborted(Promise.resolve(identity()), signal).catch(
        (error: unknown) => {
          signal.throwIfAborted();
          throw new BucketLoginError("failed", messageOf(error), { cause: error });
        },
      );
      return {
        accessKeyId,
        secretAccessKey: new Secret(secretAccessKey),
        ...(sessionToken === undefined ? {} : { sessionToken: new Secret(sessionToken) }),
        region,
      };
    },
  };
}
