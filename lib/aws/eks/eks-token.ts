import { Sha256 } from "@aws-crypto/sha256-js";
import { HttpRequest } from "@smithy/protocol-http";
import { SignatureV4 } from "@smithy/signature-v4";
import { Secret } from "../../core/secret.ts";
import type { SuppliedToken } from "../../kube/cluster-config.ts";
import type { AwsCredentials } from "../aws-connection.ts";
import { type ClusterArn, stsHost } from "./cluster-arn.ts";

/** The server takes a token for 15 minutes after its signature; it is made anew after 10. */
const renewAfterMs = 600_000;
/** Not looked at by today's servers, which go by the date; old ones refuse more than 60. */
const expiresInSeconds = 60;

/**
 * The bearer token that EKS takes: a request for "who am I" to STS, signed but not sent, which the cluster sends for us. It
 * holds for the one cluster that its header names. Nothing is asked of anybody: `now` dates the signature.
 */
export async function eksToken(cluster: ClusterArn, credentials: AwsCredentials, now: number): Promise<SuppliedToken> {
  const signer = new SignatureV4({ credentials, region: cluster.region, service: "sts", sha256: Sha256 });
  const hostname = stsHost(cluster);
  const request = new HttpRequest({
    method: "GET",
    protocol: "https:",
    hostname,
    path: "/",
    query: { Action: "GetCallerIdentity", Version: "2011-06-15" },
    headers: { host: hostname, "x-k8s-aws-id": cluster.name },
  });
  const signed = await signer.presign(request, { expiresIn: expiresInSeconds, signingDate: new Date(now) });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(signed.query ?? {})) query.set(name, String(value));
  const url = `https://${hostname}/?${query.toString()}`;
  const token = new Secret(`k8s-aws-v1.${Buffer.from(url).toString("base64url")}`);
  return { token, renewAt: now + renewAfterMs };
}
