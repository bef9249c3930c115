import { Sha256 } from "@aws-crypto/sha256-js";
import { HttpRequest } from "@smithy/protocol-http";
import { SignatureV4 } from "@smithy/signature-v4";
import type { AwsConnection } from "../../../lib/aws/aws-connection.ts";

export interface AccessKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/**
 * Registers an access key of STS with the S3 gateway; on AWS S3 knows it by itself. An `admin` has all rights, a `user` those
 * that a bucket's policy gives.
 */
export async function addS3Account(
  { endpoint = "", region, credentials }: AwsConnection,
  key: AccessKey,
  role: "admin" | "user" = "admin",
) {
  if (credentials === undefined) throw new Error("the gateway's own account is needed");
  const url = new URL("/create-user", endpoint);
  const body = `<Account><Access>${key.accessKeyId}</Access><Secret>${key.secretAccessKey}</Secret><Role>${role}</Role></Account>`;
  const signer = new SignatureV4({ credentials, region, service: "s3", sha256: Sha256 });
  const { method, headers } = await signer.sign(
    new HttpRequest({
      method: "PATCH",
      protocol: url.protocol,
      hostname: url.hostname,
      port: Number(url.port),
      path: url.pathname,
      headers: { host: url.host },
      body,
    }),
  );
  const response = await fetch(url, { method, headers, body });
  if (response.ok) return;
  const why = `${response.status} ${await response.text()}`;
  throw new Error(`the S3 gateway takes no further account (${why}): start it anew, npm run real -- reset s3`);
}
