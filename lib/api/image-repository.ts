import { z } from "zod";
import { isDurationHeld } from "../core/duration.ts";
import { Conditions } from "./condition.ts";
import { Duration, LocalReference, tooLong } from "./fields.ts";

/** The limit for `spec.exclusionList`, as in Flux. */
export const maxExclusions = 25;

/** Cosign stores signatures beside an image under tags of their own. */
export const defaultExclusions = ["^.*\\.sig$"] as const;

/** `spec` of an ImageRepository (reference image-automation 2.1). The CRD is generated from it. */
export const ImageRepositorySpec = z.object({
  image: z.string().describe("Repository without scheme and tag, for example ghcr.io/org/app."),
  interval: Duration.describe("Time between two scans where no event asks for one."),
  timeout: z
    .string()
    .regex(/^([0-9]+(\.[0-9]+)?(ms|s|m))+$/, "must be a duration such as 30s or 1m30s, without hours")
    .refine(isDurationHeld, tooLong)
    .describe("How long a scan may take; as long as the interval by default.")
    .exactOptional(),
  secretRef: LocalReference.describe("Secret with the login of the registry.").exactOptional(),
  serviceAccountName: z.string().max(253).describe("Service account whose pull secrets are used.").exactOptional(),
  proxySecretRef: LocalReference.describe("Secret with the address of a proxy.").exactOptional(),
  certSecretRef: LocalReference.describe("Secret with the certificates of the registry.").exactOptional(),
  provider: z
    .enum(["generic", "aws", "azure", "gcp"])
    .default("generic")
    .describe("How to log in: generic (default), or the identity of a cloud."),
  insecure: z.boolean().describe("Whether plain HTTP is tried where HTTPS fails.").exactOptional(),
  exclusionList: z
    .array(z.string())
    .max(maxExclusions)
    .default([...defaultExclusions])
    .describe("Regular expressions in Go's syntax: tags that match one of them are left out."),
  accessFrom: z
    .object({
      namespaceSelectors: z
        .array(
          z.object({
            matchLabels: z
              .record(z.string(), z.string())
              .describe("Labels that a namespace must have; empty: every namespace.")
              .exactOptional(),
          }),
        )
        .describe("Selectors of namespaces; one has to match."),
    })
    .describe("Other namespaces whose ImagePolicies may read the tags.")
    .exactOptional(),
  suspend: z.boolean().describe("Whether nothing is scanned until further notice.").exactOptional(),
});
export type ImageRepositorySpec = Readonly<z.infer<typeof ImageRepositorySpec>>;

const ScanResult = z.object({
  revision: z.string().describe("Checksum of the tags that were kept; it changes with them alone."),
  tagCount: z.int().describe("Number of the tags that were kept."),
  scanTime: z.string().describe("When the scan ended.").exactOptional(),
  latestTags: z.array(z.string()).describe("At most ten tags, in descending order of their bytes.").exactOptional(),
});

/** `status` of an ImageRepository (reference image-automation 2.2). */
export const ImageRepositoryStatus = z.object({
  canonicalImageName: z.string().describe("Full name of the repository.").exactOptional(),
  conditions: Conditions.exactOptional(),
  lastHandledReconcileAt: z.string().describe("Value of the last request that was handled.").exactOptional(),
  lastScanResult: ScanResult.describe("What the last scan has found.").exactOptional(),
  observedExclusionList: z.array(z.string()).describe("The exclusions of the last successful run.").exactOptional(),
  observedGeneration: z.int().describe("Generation of the spec that was last handled.").exactOptional(),
});
export type ImageRepositoryStatus = Readonly<z.infer<typeof ImageRepositoryStatus>>;
