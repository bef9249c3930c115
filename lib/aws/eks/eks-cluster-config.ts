import { Sha256 } from "@aws-crypto/sha256-js";
import { DescribeClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { HttpRequest } from "@smithy/protocol-http";
import { SignatureV4 } from "@smithy/signature-v4";
import type { Clock } from "../../core/ports/clock.ts";
import { Secret } from "../../core/secret.ts";
import type { ClusterConfig, SuppliedToken } from "../../kube/cluster-config.ts";
import { type AwsConnection, type AwsCredentials, clientConfig } from "../aws-connection.ts";
import { AwsFault } from "../aws-fault.ts";
import { callAws } from "../call-aws.ts";
import { type ClusterArn, stsHost } from "./cluster-arn.ts";

/** EKS answers only for the clusters of its own region. */
export function eksClient(connection: AwsConnection): EKSClient {
  return new EKSClient(clientConfig(connection));
}

export interface EksDeps {
  /** For the cluster's region. */
  readonly client: EKSClient;
  /** Our identity in the cluster. */
  readonly credentials: AwsCredentials;
  readonly clock: Pick<Clock, "now">;
}

/**
 * How to reach a cluster of EKS: its endpoint and certificate authority as EKS describes them now, and a token that is signed again
 * whenever the client asks. EKS is asked only here: the caller has to ask again if the cluster cannot be reached later.
 */
export async function eksClusterConfig(
  cluster: ClusterArn,
  { client, credentials, clock }: EksDeps,
  signal: AbortSignal,
): Promise<ClusterConfig> {
  const { server, ca } = await describeCluster(client, cluster, signal);
  return {
    name: cluster.name,
    server,
    namespace: undefined,
    tls: { ca, serverName: undefined, insecure: false },
    proxy: undefined,
    user: {
      name: "our AWS identity",
      certificate: undefined,
      token: { kind: "supplied", supply: () => eksToken(cluster, credentials, clock.now()) },
      impersonate: undefined,
    },
  };
}

/** EKS's description of a cluster: the address of its API server, its certificate authority, and how it can be reached. */
export interface ClusterDescription {
  readonly server: URL;
  /** PEM. */
  readonly ca: string;
  /** The version of Kubernetes, such as `1.35`; empty if EKS does not say. */
  readonly version: string;
  /** False if only the old ConfigMap `aws-auth` says which roles are known in the cluster. */
  readonly hasAccessEntries: boolean;
  /** Whether the API server has a public address; the addresses that may use it may be limited. */
  readonly isPublic: boolean;
}

/** Asks EKS with a client for the cluster's region. Throws an {@link AwsFault} if the cluster does not exist or is not ready. */
export async function describeCluster(
  client: EKSClient,
  cluster: ClusterArn,
  signal: AbortSignal,
): Promise<ClusterDescription> {
  const { account, name, region } = cluster;
  const action = { name: "eks:DescribeCluster", resource: `cluster ${name}`, region, account };
  const command = new DescribeClusterCommand({ name });
  const answer = await callAws(action, (options) => client.send(command, options), signal);
  const {
    accessConfig,
    arn,
    certificateAuthority,
    endpoint,
    resourcesVpcConfig,
    status = "unknown",
  } = answer.cluster ?? {};
  // Without any certificate the public authorities would be trusted.
  const { data: ca = "" } = certificateAuthority ?? {};
  const said = (why: string): AwsFault => new AwsFault("refused", "", `${action.name} on ${action.resource}: ${why}`);
  // EKS looks in the account of the credentials, where another cluster may have the same name.
  const found = /:eks:[a-z0-9-]+:([0-9]{12}):/.exec(arn ?? "")?.[1];
  if (found !== undefined && found !== account) {
    throw said(`the credentials are of account ${found}, the cluster is of account ${account}; assume a role there`);
  }
  const server = endpoint !== undefined && URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (server === undefined || ca === "") {
    throw said(`it has no endpoint or no certificate authority, its status is ${status}; wait until it is ACTIVE`);
  }
  return {
    server,
    ca: Buffer.from(ca, "base64").toString(),
    version: answer.cluster?.version ?? "",
    hasAccessEntries: accessConfig?.authenticationMode !== "CONFIG_MAP",
    isPublic: resourcesVpcConfig?.endpointPublicAccess !== false,
  };
}

/** The server accepts a token for 15 minutes after its signature. A new one is made after 10. */
const renewAfterMs = 600_000;
/** Today's servers ignore this and check the date; old ones refuse more than 60. */
const expiresInSeconds = 60;

/**
 * The bearer token of EKS: a signed request to STS for "who am I", which the cluster sends for us. It is valid only for the cluster
 * that its header names. Making it needs no call; `now` dates the signature.
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
