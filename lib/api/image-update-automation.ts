import { z } from "zod";
import { Conditions } from "./condition.ts";
import { Duration, LocalReference, StringMap } from "./fields.ts";
import { GitReference } from "./git-repository.ts";
import { ImageRef } from "./image-policy.ts";

const SourceReference = z.object({
  apiVersion: z.string().describe("API version of the source.").exactOptional(),
  kind: z.enum(["GitRepository"]).default("GitRepository").describe("Kind of the source."),
  name: z.string().describe("Name of the GitRepository."),
  namespace: z.string().describe("Its namespace; that of the automation by default.").exactOptional(),
});

const SelectorRequirement = z.object({
  key: z.string().describe("Label that is compared."),
  operator: z.string().describe("In, NotIn, Exists or DoesNotExist."),
  values: z.array(z.string()).describe("Values for In and NotIn.").exactOptional(),
});

const Commit = z.object({
  author: z
    .object({
      email: z.string().describe("Address of the author."),
      name: z.string().describe("Name of the author.").exactOptional(),
    })
    .describe("Author and committer of each commit."),
  signingKey: z
    .object({
      secretRef: LocalReference.describe("Secret with the private key: git.asc (gpg) or identity (ssh)."),
      type: z.enum(["gpg", "ssh"]).default("gpg").describe("Form of the key."),
    })
    .describe("Key that commits are signed with.")
    .exactOptional(),
  messageTemplate: z.string().describe("Message of the commit, as a template of Go.").exactOptional(),
  messageTemplateValues: StringMap.describe("Values for the template, as .Values.").exactOptional(),
});

const GitSpec = z.object({
  checkout: z
    .object({ ref: GitReference.describe("What is checked out.") })
    .describe("Reference to check out in place of the GitRepository's.")
    .exactOptional(),
  commit: Commit.describe("How commits are made."),
  push: z
    .object({
      branch: z
        .string()
        .describe("Branch to push to, created if it is missing; the checked-out one by default.")
        .exactOptional(),
      refspec: z.string().describe("Refspec of a second push, after that to the branch.").exactOptional(),
      options: StringMap.describe("Push options for the server.").exactOptional(),
    })
    .describe("Where commits are pushed to.")
    .exactOptional(),
});

/** `spec` of an ImageUpdateAutomation (reference image-automation 4.1). The CRD is generated from it. */
export const ImageUpdateAutomationSpec = z.object({
  sourceRef: SourceReference.describe("GitRepository that is written to."),
  git: GitSpec.describe("How the repository is read and written.").exactOptional(),
  interval: Duration.describe("Time between two runs where no event asks for one."),
  policySelector: z
    .object({
      matchLabels: StringMap.describe("Labels that policies must have.").exactOptional(),
      matchExpressions: z.array(SelectorRequirement).describe("Conditions on the labels of policies.").exactOptional(),
    })
    .describe("ImagePolicies of the namespace that count; all by default.")
    .exactOptional(),
  update: z
    .object({
      strategy: z.enum(["Setters"]).default("Setters").describe("How files are changed: by the markers in them."),
      path: z.string().describe("Folder or file that is looked at; everything by default.").exactOptional(),
    })
    .default({ strategy: "Setters" })
    .describe("What is changed."),
  suspend: z.boolean().describe("Whether nothing is written until further notice.").exactOptional(),
});
export type ImageUpdateAutomationSpec = Readonly<z.infer<typeof ImageUpdateAutomationSpec>>;

/** `status` of an ImageUpdateAutomation (reference image-automation 4.2). */
export const ImageUpdateAutomationStatus = z.object({
  conditions: Conditions.exactOptional(),
  lastAutomationRunTime: z.string().describe("When the last run began.").exactOptional(),
  lastHandledReconcileAt: z.string().describe("Value of the last request that was handled.").exactOptional(),
  lastPushCommit: z.string().describe("The last commit that was pushed.").exactOptional(),
  lastPushTime: z.string().describe("When it was pushed.").exactOptional(),
  observedGeneration: z.int().describe("Generation of the spec that was last handled.").exactOptional(),
  observedPolicies: z
    .record(z.string(), ImageRef)
    .describe("Images of the policies that the last run has used.")
    .exactOptional(),
  observedSourceRevision: z.string().describe("Revision of the repository after the last run.").exactOptional(),
});
export type ImageUpdateAutomationStatus = Readonly<z.infer<typeof ImageUpdateAutomationStatus>>;
