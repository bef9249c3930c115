import { z } from "zod";

/** The addresses and accounts of the parts; a field is missing if its part is not up. */
export const Addresses = z.object({
  /** The user `sluice` of the group `sluice`, who may do everything and is, unlike `system:masters`, throttled. */
  kubeconfig: z.string().optional(),
  adminKubeconfig: z.string().optional(),
  /** The folder of the Gateway API's definitions, which the control plane has. */
  gatewayApi: z.string().optional(),
  /** The audit log, one JSON line per request, if it was asked for. */
  audit: z.string().optional(),
  /** A cluster that takes the tokens that EKS takes, and all that goes with it. */
  eks: z
    .object({
      /** Its ARN; the test answers DescribeCluster itself. */
      cluster: z.string(),
      /** The role whose sessions may do everything in it. */
      role: z.string(),
      /** STS, the only source of credentials of the role. */
      sts: z.string(),
      /** The kubeconfig of its administrator. */
      kubeconfig: z.string(),
      /** The log of every request to it. */
      audit: z.string(),
      /** The folder of its processes' pid files. */
      folder: z.string(),
    })
    .optional(),
  dynamodb: z.string().optional(),
  sqs: z.string().optional(),
  s3: z.string().optional(),
  /** moto: EventBridge, KMS, STS, Secrets Manager, EKS, ECR and CloudFormation. */
  aws: z.string().optional(),
  /** The folder of the command line of AWS, whose `bin/python3` runs `-m awscli`. */
  awsCli: z.string().optional(),
  /** The folder of `aws-lambda-ric`, which is no server. */
  lambdaRic: z.string().optional(),
  /** The account that S3 checks; the other parts accept any account whose id holds only letters and digits. */
  accessKeyId: z.string().optional(),
  secretAccessKey: z.string().optional(),
  region: z.string().optional(),
  /** Without accounts and without TLS. */
  registry: z.string().optional(),
  /** Where the registry sends its notifications, for a test that listens there. */
  registryEvents: z.string().optional(),
  registryTls: z.object({ address: z.string(), ca: z.string(), username: z.string(), password: z.string() }).optional(),
  prometheus: z
    .object({
      /** The one that scrapes, without accounts and without TLS. */
      url: z.string(),
      /** A folder: it scrapes what the files `*.json` there name (file_sd), each second. A test writes its own, and deletes it. */
      targets: z.string(),
    })
    .optional(),
  /** One without targets, with TLS and an account. */
  prometheusTls: z.object({ url: z.string(), ca: z.string(), username: z.string(), password: z.string() }).optional(),
  /** One that is still starting, for good: it answers each query with 503. */
  prometheusStarting: z.string().optional(),
});
export type Addresses = z.infer<typeof Addresses>;

/** The environment variables that tests read: `registryTls.ca` becomes `SLUICE_REAL_REGISTRY_TLS_CA`. */
export function environmentOf(addresses: Addresses): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(addresses)
      .flatMap(([name, value]) => named(name, value))
      .map(([name, value]) => [`SLUICE_REAL_${name.replaceAll(/[A-Z]/g, "_$&").toUpperCase()}`, value]),
  );
}

/** HOST:PORT of the registry without accounts, if one is named. */
export function realRegistry(): string | undefined {
  const { SLUICE_REAL_REGISTRY: registry = "" } = process.env;
  return registry === "" ? undefined : registry;
}

function named(name: string, value: Addresses[keyof Addresses]): readonly (readonly [string, string])[] {
  if (value === undefined) return [];
  if (typeof value === "string") return [[name, value]];
  return Object.entries(value).map(([field, text]) => [`${name}_${field}`, text]);
}
