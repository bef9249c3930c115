import { z } from "zod";
import { Conditions } from "./condition.ts";
import { Duration } from "./fields.ts";

const onlyWithAlways = "spec.interval is only accepted when spec.digestReflectionPolicy is set to 'Always'";
/** Also what the controller says of an object that was created before the rule. */
export const intervalMissing = "spec.interval must be set when spec.digestReflectionPolicy is set to 'Always'";

const Order = z.enum(["asc", "desc"]).default("asc");

/** `spec` of an ImagePolicy (reference image-automation 3.1). The CRD is generated from it. */
export const ImagePolicySpec = z
  .object({
    imageRepositoryRef: z
      .object({
        name: z.string().describe("Name of the ImageRepository."),
        namespace: z.string().describe("Its namespace; that of the ImagePolicy by default.").exactOptional(),
      })
      .describe("ImageRepository whose tags are ranked."),
    policy: z
      .object({
        semver: z
          .object({ range: z.string().describe("Range of versions; the highest tag in it is taken.") })
          .describe("Ranks tags by their version.")
          .exactOptional(),
        alphabetical: z
          .object({ order: Order.describe("asc (default) takes the last tag of the alphabet, desc the first.") })
          .describe("Ranks tags by their bytes.")
          .exactOptional(),
        numerical: z
          .object({ order: Order.describe("asc (default) takes the greatest number, desc the least.") })
          .describe("Ranks tags that are numbers.")
          .exactOptional(),
      })
      .describe("How the tags are ranked; the first of semver, alphabetical and numerical counts."),
    filterTags: z
      .object({
        pattern: z
          .string()
          .describe("Regular expression in Go's syntax: only tags that match it are ranked.")
          .exactOptional(),
        extract: z
          .string()
          .describe("Template for the text that is ranked in place of the tag, for example $ts or $1.")
          .exactOptional(),
      })
      .describe("Which tags are ranked, and by which part.")
      .exactOptional(),
    digestReflectionPolicy: z
      .enum(["Always", "IfNotPresent", "Never"])
      .default("Never")
      .describe("When the digest of the tag is looked up."),
    interval: Duration.describe("Time between two lookups of the digest, only with Always.").exactOptional(),
    suspend: z.boolean().describe("Whether no tag is chosen until further notice.").exactOptional(),
  })
  .meta({
    "x-kubernetes-validations": [
      {
        rule: "!has(self.interval) || (has(self.digestReflectionPolicy) && self.digestReflectionPolicy == 'Always')",
        message: onlyWithAlways,
      },
      {
        rule: "has(self.interval) || !has(self.digestReflectionPolicy) || self.digestReflectionPolicy != 'Always'",
        message: intervalMissing,
      },
    ],
  });
export type ImagePolicySpec = Readonly<z.infer<typeof ImagePolicySpec>>;

/** An image that a policy has chosen. */
export const ImageRef = z.object({
  name: z.string().describe("Repository as the ImageRepository names it."),
  tag: z.string().describe("Tag that was chosen."),
  digest: z.string().describe("Digest of the tag, where the policy looks it up.").exactOptional(),
});
export type ImageRef = Readonly<z.infer<typeof ImageRef>>;

/** `status` of an ImagePolicy (reference image-automation 3.2). */
export const ImagePolicyStatus = z.object({
  conditions: Conditions.exactOptional(),
  lastHandledReconcileAt: z.string().describe("Value of the last request that was handled.").exactOptional(),
  latestRef: ImageRef.describe("The image that was chosen.").exactOptional(),
  observedGeneration: z.int().describe("Generation of the spec that was last handled.").exactOptional(),
  observedPreviousRef: ImageRef.describe("The image that was chosen before.").exactOptional(),
});
export type ImagePolicyStatus = Readonly<z.infer<typeof ImagePolicyStatus>>;
