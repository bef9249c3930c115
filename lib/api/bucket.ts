import { z } from "zod";
import { isDurationHeld } from "../core/duration.ts";
import { notYet, unsupportedFields } from "./field-marks.ts";
import { Duration, LocalReference, tooLong } from "./fields.ts";
import { SourceStatus } from "./source.ts";

const Sts = z.object({
  provider: z
    .enum(["aws", "ldap"])
    .describe("Who gives the credentials: AWS (aws), or a server with LDAP users (ldap)."),
  endpoint: z
    .string()
    .regex(/^(http|https):\/\/.*$/, "must begin with http:// or https://")
    .describe("Address that is asked for credentials."),
  secretRef: LocalReference.describe("Secret with username and password of the LDAP user.").exactOptional(),
  certSecretRef: LocalReference.describe(
    "Secret with tls.crt and tls.key, ca.crt or both for the endpoint.",
  ).exactOptional(),
});

const fields = z.object({
  provider: z
    .enum(["generic", "aws", "gcp", "azure"])
    .default("generic")
    .describe("API of the bucket: S3 (generic, aws), Google Cloud Storage (gcp) or Azure Blob Storage (azure)."),
  bucketName: z.string().describe("Name of the bucket."),
  endpoint: z
    .string()
    .describe(
      "Host of the S3 API without scheme, for example s3.eu-central-1.amazonaws.com; for azure the URL of the account.",
    ),
  sts: Sts.describe("Service that gives temporary credentials for the bucket.").exactOptional(),
  insecure: z.boolean().describe("Whether the endpoint is asked by plain HTTP.").exactOptional(),
  region: z.string().describe("Region of the bucket.").exactOptional(),
  prefix: z.string().describe("Only objects whose key begins so are taken.").exactOptional(),
  secretRef: LocalReference.describe("Secret with the credentials.").exactOptional(),
  serviceAccountName: z.string().describe("Service account whose cloud identity is used.").exactOptional(),
  certSecretRef: LocalReference.describe("Secret with tls.crt and tls.key, ca.crt or both.").exactOptional(),
  proxySecretRef: LocalReference.describe("Secret with the address of a proxy.").exactOptional(),
  interval: Duration.describe("Time between two looks at the bucket where no event asks for one."),
  timeout: z
    .string()
    .regex(/^([0-9]+(\.[0-9]+)?(ms|s|m))+$/, "must be a duration such as 30s or 1m30s, without hours")
    .refine(isDurationHeld, tooLong)
    .default("60s")
    .describe("How long the listing may take, and then the download."),
  ignore: z.string().describe("Objects to leave out, in the notation of .gitignore.").exactOptional(),
  suspend: z.boolean().describe("Whether to leave the artifact as it is until further notice.").exactOptional(),
  // A field of API versions before v1, which every version keeps: what the API server drops could not be refused.
  accessFrom: notYet(
    z
      .object({
        namespaceSelectors: z.array(z.object({ matchLabels: z.record(z.string(), z.string()).exactOptional() })),
      })
      .describe("Former field: a source is for its own installation.")
      .exactOptional(),
  ),
});
type Fields = Readonly<z.infer<typeof fields>>;

/** Combinations of fields that are forbidden, as CEL for the API server and as code for objects that it has not checked. */
interface Combination {
  readonly rule: string;
  readonly message: string;
  readonly holds: (spec: Fields) => boolean;
}

const combinations: readonly Combination[] = [
  {
    rule: "self.provider == 'aws' || self.provider == 'generic' || !has(self.sts)",
    message: "STS configuration is only supported for the 'aws' and 'generic' Bucket providers",
    holds: ({ provider, sts }) => provider === "aws" || provider === "generic" || sts === undefined,
  },
  {
    rule: "self.provider != 'aws' || !has(self.sts) || self.sts.provider == 'aws'",
    message: "'aws' is the only supported STS provider for the 'aws' Bucket provider",
    holds: ({ provider, sts }) => provider !== "aws" || sts === undefined || sts.provider === "aws",
  },
  {
    rule: "self.provider != 'generic' || !has(self.sts) || self.sts.provider == 'ldap'",
    message: "'ldap' is the only supported STS provider for the 'generic' Bucket provider",
    holds: ({ provider, sts }) => provider !== "generic" || sts === undefined || sts.provider === "ldap",
  },
  {
    rule: "!has(self.sts) || self.sts.provider != 'aws' || !has(self.sts.secretRef)",
    message: "spec.sts.secretRef is not required for the 'aws' STS provider",
    holds: ({ sts }) => sts?.provider !== "aws" || sts.secretRef === undefined,
  },
  {
    rule: "!has(self.sts) || self.sts.provider != 'aws' || !has(self.sts.certSecretRef)",
    message: "spec.sts.certSecretRef is not required for the 'aws' STS provider",
    holds: ({ sts }) => sts?.provider !== "aws" || sts.certSecretRef === undefined,
  },
  {
    rule: "self.provider != 'generic' || !has(self.serviceAccountName)",
    message: "ServiceAccountName is not supported for the 'generic' Bucket provider",
    holds: ({ provider, serviceAccountName }) => provider !== "generic" || serviceAccountName === undefined,
  },
  {
    rule: "!has(self.secretRef) || !has(self.serviceAccountName)",
    message: "cannot set both .spec.secretRef and .spec.serviceAccountName",
    holds: ({ secretRef, serviceAccountName }) => secretRef === undefined || serviceAccountName === undefined,
  },
];

/** `spec` of a Bucket (reference sources 8.1). The CRD is generated from it. */
export const BucketSpec = fields.meta({
  "x-kubernetes-validations": combinations.map(({ rule, message }) => ({ rule, message })),
});
export type BucketSpec = Readonly<z.infer<typeof BucketSpec>>;

/** The first combination of fields that the API server should have refused, in its words. */
export function bucketCombinationFault(spec: BucketSpec): string | undefined {
  return combinations.find(({ holds }) => !holds(spec))?.message;
}

/** The unsupported fields that a spec uses. */
export function unsupportedBucketFields(spec: BucketSpec): readonly string[] {
  return unsupportedFields(BucketSpec, spec);
}

/** `status` of a Bucket (reference sources 8.1). */
export const BucketStatus = SourceStatus.extend({
  observedIgnore: z.string().describe("spec.ignore with which the artifact was made.").exactOptional(),
});
