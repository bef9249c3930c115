import type { AwsConnection } from "../../../lib/aws/aws-connection.ts";
import { type ClusterArn, parseClusterArn } from "../../../lib/aws/eks/cluster-arn.ts";
import { realAws } from "../../contract/real-aws.ts";

/** Everything that the whole system stands on. */
export interface RealParts {
  readonly aws: AwsConnection;
  readonly dynamodb: AwsConnection;
  readonly sqs: AwsConnection;
  readonly s3: AwsConnection;
  /** HOST:PORT. */
  readonly registry: string;
  /** Where the registry sends its notifications. */
  readonly registryEvents: URL;
  readonly eks: RealEks;
}

export interface RealEks {
  readonly cluster: ClusterArn;
  readonly clusterArn: string;
  readonly role: string;
  readonly sts: string;
  /** Of the administrator. */
  readonly kubeconfig: string;
  readonly audit: string;
  readonly folder: string;
}

/** Undefined if one is missing, which skips the tests. */
export function realParts(): RealParts | undefined {
  const [aws, dynamodb, sqs, s3] = [realAws("AWS"), realAws("DYNAMODB"), realAws("SQS"), realAws("S3")];
  const {
    SLUICE_REAL_REGISTRY: registry,
    SLUICE_REAL_REGISTRY_EVENTS: events,
    SLUICE_REAL_EKS_CLUSTER: clusterArn,
    SLUICE_REAL_EKS_ROLE: role,
    SLUICE_REAL_EKS_STS: sts,
    SLUICE_REAL_EKS_KUBECONFIG: kubeconfig,
    SLUICE_REAL_EKS_AUDIT: audit,
    SLUICE_REAL_EKS_FOLDER: folder,
  } = process.env;
  if (aws === undefined || dynamodb === undefined || sqs === undefined || s3 === undefined) return undefined;
  if (registry === undefined || events === undefined || clusterArn === undefined || role === undefined)
    return undefined;
  if (sts === undefined || kubeconfig === undefined || audit === undefined || folder === undefined) return undefined;
  const eks = { cluster: parseClusterArn(clusterArn), clusterArn, role, sts, kubeconfig, audit, folder };
  return { aws, dynamodb, sqs, s3, registry, registryEvents: new URL(events), eks };
}
