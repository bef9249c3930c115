import { Stack, Token } from "aws-cdk-lib";
import { CfnVPCEndpoint, type IVpc } from "aws-cdk-lib/aws-ec2";
import type { IConstruct } from "constructs";

/** A VPC endpoint that functions need in subnets without another way out. docs/vpc.md lists them all. */
export interface NeededEndpoint {
  /** After `com.amazonaws.<region>.`. */
  readonly service: string;
  readonly type: "gateway" | "interface";
  /** The client of AWS' SDK that calls it; absent: it is called without one. */
  readonly client?: string;
  /** The part of an installation that needs it. Unset: every installation needs it. */
  readonly neededBy?: "roles" | "decryptionKeys" | "ecr" | "codecommit" | "sns" | "events" | "cloudWatch";
  readonly why: string;
}

/** The services that the functions call. infra/test/vpc.test.ts compares them with the clients that their code imports. */
export const neededEndpoints: readonly NeededEndpoint[] = [
  {
    service: "dynamodb",
    type: "gateway",
    client: "@aws-sdk/client-dynamodb",
    why: "the state table",
  },
  {
    service: "s3",
    type: "gateway",
    client: "@aws-sdk/client-s3",
    why: "artifacts, the document of the installation, answers of custom resources, layers of images in ECR",
  },
  {
    service: "sqs",
    type: "interface",
    client: "@aws-sdk/client-sqs",
    why: "wake-ups, notifications, letters of parked objects",
  },
  {
    service: "secretsmanager",
    type: "interface",
    client: "@aws-sdk/client-secrets-manager",
    why: "the installation key, logins of a `SluiceConfiguration`",
  },
  {
    service: "eks",
    type: "interface",
    client: "@aws-sdk/client-eks",
    why: "the address and the certificate of a cluster",
  },
  {
    service: "sts",
    type: "interface",
    client: "@aws-sdk/client-sts",
    neededBy: "roles",
    why: "roles that are assumed: `role`, `roles`, those after a `+` in `targets` and `decryptionKeys`, those of service accounts",
  },
  {
    service: "kms",
    type: "interface",
    client: "@aws-sdk/client-kms",
    neededBy: "decryptionKeys",
    why: "data keys of SOPS",
  },
  {
    service: "ecr.api",
    type: "interface",
    client: "@aws-sdk/client-ecr",
    neededBy: "ecr",
    why: "the login at ECR",
  },
  { service: "ecr.dkr", type: "interface", neededBy: "ecr", why: "tags and manifests of images in ECR" },
  { service: "git-codecommit", type: "interface", neededBy: "codecommit", why: "repositories of CodeCommit" },
  { service: "sns", type: "interface", neededBy: "sns", why: "topics that notifications go to" },
  { service: "events", type: "interface", neededBy: "events", why: "event buses that notifications go to" },
  { service: "monitoring", type: "interface", neededBy: "cloudWatch", why: "metrics that Canaries are checked by" },
];

/** Whether this network's subnets are known to have no route out of the VPC but through endpoints. */
export function areIsolated(vpc: IVpc, subnetIds: readonly string[]): boolean {
  const isolated = new Set(vpc.isolatedSubnets.map(({ subnetId }) => subnetId));
  return subnetIds.some((id) => isolated.has(id));
}

/** The services of `needed` for which the app creates no endpoint in this VPC. */
export function missingEndpoints(vpc: IVpc, needed: readonly NeededEndpoint[]): readonly NeededEndpoint[] {
  const made = endpointsIn(vpc).map((one) => JSON.stringify(Stack.of(one).resolve(one.serviceName)));
  return needed.filter(({ service }) => !made.some((name) => name.includes(`.${service}"`)));
}

/** The endpoints that the app makes in this VPC. */
export function endpointsIn(vpc: IVpc): readonly CfnVPCEndpoint[] {
  return vpc.node.root.node
    .findAll()
    .filter((one) => CfnVPCEndpoint.isCfnVPCEndpoint(one))
    .filter((one) => one.vpcId === vpc.vpcId || sameExpression(one, one.vpcId, vpc.vpcId));
}

function sameExpression(scope: IConstruct, one: string | undefined, other: string): boolean {
  if (one === undefined || !Token.isUnresolved(one)) return false;
  const stack = Stack.of(scope);
  return JSON.stringify(stack.resolve(one)) === JSON.stringify(stack.resolve(other));
}
