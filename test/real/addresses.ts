import { z } from "zod";

/** Where the parts answer, and with which accounts; a field is missing where its part is not up. */
export const Addresses = z.object({
  /** The user `sluice` of the group `sluice`, who may do everything and is, unlike `system:masters`, throttled. */
  kubeconfig: z.string().optional(),
  adminKubeconfig: z.string().optional(),
  /** The audit log, one JSON line a request, where it was asked for. */
  audit: z.string().optional(),
  /** A cluster that takes the tokens that EKS takes, and all that goes with it. */
  eks: z
    .object({
      /** Its ARN; what describes it is the test's to answer. */
      cluster: z.string(),
      /** The role whose sessions may do everything in it. */
      role: z.string(),
      /** STS, which alone gives out credentials of the role. */
      sts: z.string(),
      /** Of its administrator. */
      kubeconfig: z.string(),
      /** The log of every request to it. */
      audit: z.string(),
      /** Where its processes keep their pid files. */
      folder: z.string(),
    })
    .optional(),
  dynamodb: z.string().optional(),
  sqs: z.string().optional(),
  s3: z.string().optional(),
  /** moto: EventBridge, KMS, STS, Secrets Manager, EKS, ECR and CloudFormation. */
  aws: z.string().optional(),
  /** The folder of `aws-lambda-ric`, which is no server. */
  lambdaRic: z.string().optional(),
  /** What S3 checks; the other parts take any account whose id holds only letters and digits. */
  accessKeyId: z.string().optional(),
  secretAccessKey: z.string().optional(),
  region: z.string().optional(),
  /** Without accounts and without TLS. */
  registry: z.string().optional(),
  /** Where the registry sends its notifications, for a test that listens there. */
  registryEvents: z.string().optional(),
  registryTls: z.object({ address: z.string(), ca: z.string(), username: z.string(), password: z.string() }).optional(),
});
export type Addresses = z.infer<typeof Addresses>;

/** What tests read: `registryTls.ca` becomes `SLUICE_REAL_REGISTRY_TLS_CA`. */
export function environmentOf(addresses: Addresses): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(addresses)
      .flatMap(([name, value]) => named(name, value))
      .map(([name, value]) => [`SLUICE_REAL_${name.replaceAll(/[A-Z]/g, "_$&").toUpperCase()}`, value]),
  );
}

function named(name: string, value: Addresses[keyof Addresses]): readonly (readonly [string, string])[] {
  if (value === undefined) return [];
  if (typeof value === "string") return [[name, value]];
  return Object.entries(value).map(([field, text]) => [`${name}_${field}`, text]);
}
