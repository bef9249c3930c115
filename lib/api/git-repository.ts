import { z } from "zod";
import { isDurationHeld } from "../core/duration.ts";
import { limited, notYet, overLimits, unsupportedFields } from "./field-marks.ts";
import { Duration, LocalReference, tooLong } from "./fields.ts";
import { Artifact, SourceStatus } from "./source.ts";

export const GitReference = z.object({
  branch: z.string().describe("Branch to follow; master if no other field is set.").exactOptional(),
  tag: z.string().describe("Tag to take; wins over semver and branch.").exactOptional(),
  semver: z.string().describe("Range of versions; the highest tag in it is taken. Wins over branch.").exactOptional(),
  name: z
    .string()
    .describe("Full name of a reference, for example refs/pull/420/head; wins over branch, tag and semver.")
    .exactOptional(),
  commit: z.string().describe("Commit to take; wins over all other fields.").exactOptional(),
});
export type GitReference = Readonly<z.infer<typeof GitReference>>;

/** Which part of a revision has to be signed. `head` is an older name of `HEAD`. */
export const VerificationMode = z.enum(["head", "HEAD", "Tag", "TagAndHEAD"]);

const Verification = z.object({
  mode: VerificationMode.default("HEAD").describe("What has to be signed: the commit (HEAD), the tag, or both."),
  secretRef: LocalReference.describe("Secret with the trusted keys: *.asc for OpenPGP, *.sshpub for SSH."),
});

export const Include = z.object({
  repository: LocalReference.describe("GitRepository whose artifact is included, in the same namespace."),
  fromPath: z.string().describe("Folder of it to take; everything by default.").exactOptional(),
  toPath: z.string().describe("Folder to put it in; the name of the repository by default.").exactOptional(),
});
export type Include = Readonly<z.infer<typeof Include>>;

/** Each of these is fetched and unpacked in one run. */
export const maxIncludes = 50;
/** Each path is compared with each of these. */
export const maxSparsePaths = 1_000;

const onlyClouds = "serviceAccountName can only be set when provider is 'azure' or 'aws'";

/** Fields of API versions before v1, which every version keeps: what the API server drops could not be refused. */
const formerFields = {
  gitImplementation: z
    .enum(["go-git", "libgit2"])
    .describe("Former field: there is one implementation.")
    .exactOptional(),
  accessFrom: notYet(
    z
      .object({
        namespaceSelectors: z.array(z.object({ matchLabels: z.record(z.string(), z.string()).exactOptional() })),
      })
      .describe("Former field: a source is for its own installation.")
      .exactOptional(),
  ),
};

/** `spec` of a GitRepository (reference sources 2.1). The CRD is generated from it. */
export const GitRepositorySpec = z
  .object({
    url: z
      .string()
      .regex(/^(http|https|ssh):\/\/.*$/, "must begin with http://, https:// or ssh://")
      .describe("Repository, for example https://example.com/team/app.git or ssh://git@example.com/team/app.git."),
    ref: GitReference.describe("What to take: the branch master by default.").exactOptional(),
    interval: Duration.describe("Time between two looks at the repository where no event asks for one."),
    timeout: z
      .string()
      .regex(/^([0-9]+(\.[0-9]+)?(ms|s|m))+$/, "must be a duration such as 30s or 1m30s, without hours")
      .refine(isDurationHeld, tooLong)
      .default("60s")
      .describe("How long one git operation may take: a look at the references, or a fetch."),
    secretRef: LocalReference.describe("Secret with the credentials.").exactOptional(),
    provider: z
      .enum(["generic", "aws", "azure", "github"])
      .describe("How to log in: generic (default), the identity of a cloud, or a GitHub App.")
      .exactOptional(),
    serviceAccountName: z.string().describe("Service account whose cloud identity is used.").exactOptional(),
    verify: Verification.describe("Signatures that a revision has to have.").exactOptional(),
    proxySecretRef: LocalReference.describe("Secret with the address of a proxy.").exactOptional(),
    ignore: z.string().describe("Files to leave out, in the notation of .gitignore.").exactOptional(),
    suspend: z.boolean().describe("Whether to leave the artifact as it is until further notice.").exactOptional(),
    recurseSubmodules: z
      .boolean()
      .describe("Whether the content of submodules belongs to the artifact.")
      .exactOptional(),
    include: limited(
      z.array(Include).describe("Artifacts of other GitRepositories to put into this one.").exactOptional(),
      { max: maxIncludes, unit: "items" },
    ),
    sparseCheckout: limited(z.array(z.string()).describe("Folders to take; everything by default.").exactOptional(), {
      max: maxSparsePaths,
      unit: "items",
    }),
    ...formerFields,
  })
  .refine(
    ({ provider, serviceAccountName }) =>
      serviceAccountName === undefined || provider === "azure" || provider === "aws",
    onlyClouds,
  )
  .meta({
    "x-kubernetes-validations": [
      {
        rule: "!has(self.serviceAccountName) || (has(self.provider) && (self.provider == 'azure' || self.provider == 'aws'))",
        message: onlyClouds,
      },
    ],
  });
export type GitRepositorySpec = Readonly<z.infer<typeof GitRepositorySpec>>;

/** `status` of a GitRepository (reference sources 2.2). */
export const GitRepositoryStatus = SourceStatus.extend({
  includedArtifacts: z
    .array(Artifact)
    .describe("The artifacts that were included, in the order of spec.include.")
    .exactOptional(),
  observedIgnore: z.string().describe("spec.ignore with which the artifact was made.").exactOptional(),
  observedRecurseSubmodules: z
    .boolean()
    .describe("spec.recurseSubmodules with which the artifact was made.")
    .exactOptional(),
  observedInclude: z.array(Include).describe("spec.include with which the artifact was made.").exactOptional(),
  observedSparseCheckout: z
    .array(z.string())
    .describe("spec.sparseCheckout with which the artifact was made.")
    .exactOptional(),
  sourceVerificationMode: z.string().describe("The part of the revision that was verified.").exactOptional(),
});
export type GitRepositoryStatus = Readonly<z.infer<typeof GitRepositoryStatus>>;

/** One text for each field that exceeds its limit. */
export function overGitRepositoryLimits(spec: GitRepositorySpec): readonly string[] {
  return overLimits(GitRepositorySpec, spec);
}

/** The unsupported fields that a spec uses. */
export function unsupportedGitRepositoryFields(spec: GitRepositorySpec): readonly string[] {
  return unsupportedFields(GitRepositorySpec, spec);
}
