import { z } from "zod";
import { isDurationHeld } from "../core/duration.ts";
import { isSet, notYet, unsupportedFields } from "./field-marks.ts";
import { Duration, LocalReference, tooLong } from "./fields.ts";
import { SourceStatus } from "./source.ts";

const OciReference = z.object({
  digest: z.string().describe("Digest to pull, sha256:...; wins over semver and tag.").exactOptional(),
  semver: z.string().describe("Range of versions; the highest tag in it is pulled. Wins over tag.").exactOptional(),
  semverFilter: z
    .string()
    .describe("Regular expression that tags have to match before semver looks at them.")
    .exactOptional(),
  tag: z.string().describe("Tag to pull; latest by default.").exactOptional(),
});

export const LayerSelector = z.object({
  mediaType: z.string().describe("Media type of the layer; the first layer of this type is taken.").exactOptional(),
  operation: z
    .enum(["extract", "copy"])
    .describe("Whether the layer is unpacked (extract, the default) or stored unchanged (copy).")
    .exactOptional(),
});

/** `spec.verify` of a source in a registry: an OCIRepository, or a HelmChart from one. */
export const SignatureVerification = z.object({
  provider: z.enum(["cosign", "notation"]).default("cosign").describe("Who has signed the artifact."),
  secretRef: LocalReference.describe("Secret with the trusted keys or the trust policy.").exactOptional(),
  matchOIDCIdentity: z
    .array(
      z.object({
        issuer: z.string().describe("Regular expression for the issuer of the identity."),
        subject: z.string().describe("Regular expression for the subject of the identity."),
      }),
    )
    .describe("Identities whose signature counts; one match is enough.")
    .exactOptional(),
  trustedRootSecretRef: LocalReference.describe("Secret with trusted_root.json of an own Sigstore.").exactOptional(),
});

export type SignatureVerification = Readonly<z.infer<typeof SignatureVerification>>;

/** `spec` of an OCIRepository (reference sources 3.1). The CRD is generated from it. */
export const OciRepositorySpec = z.object({
  url: z
    .string()
    .regex(/^oci:\/\/.*$/, "must begin with oci://")
    .describe("Repository, oci://<host>/<path>, without tag or digest."),
  ref: OciReference.describe("What to pull: the tag latest by default.").exactOptional(),
  layerSelector: LayerSelector.describe("Layer to take; the first one by default.").exactOptional(),
  provider: notYet(
    z
      .enum(["generic", "aws", "azure", "gcp"])
      .default("generic")
      .describe("How to log in: generic, or the identity of a cloud."),
    // A secret wins over the identity of a cloud, which is then not used.
    (provider, { secretRef }) => provider !== "generic" && !isSet(secretRef),
  ),
  secretRef: LocalReference.describe("Secret of type kubernetes.io/dockerconfigjson to log in with.").exactOptional(),
  verify: SignatureVerification.describe("Signatures that the artifact has to have.").exactOptional(),
  serviceAccountName: z.string().describe("Service account whose image pull secrets are used.").exactOptional(),
  certSecretRef: LocalReference.describe("Secret with tls.crt and tls.key, ca.crt or both.").exactOptional(),
  proxySecretRef: LocalReference.describe("Secret with the address of a proxy.").exactOptional(),
  interval: Duration.describe("Time between two looks at the registry where no event asks for one."),
  timeout: z
    .string()
    .regex(/^([0-9]+(\.[0-9]+)?(ms|s|m))+$/, "must be a duration such as 30s or 1m30s, without hours")
    .refine(isDurationHeld, tooLong)
    .default("60s")
    .describe("How long all requests of a run to the registry may take together."),
  ignore: z.string().describe("Files to leave out, in the notation of .gitignore.").exactOptional(),
  insecure: z.boolean().describe("Whether plain HTTP is allowed.").exactOptional(),
  suspend: z.boolean().describe("Whether to leave the artifact as it is until further notice.").exactOptional(),
});
export type OciRepositorySpec = Readonly<z.infer<typeof OciRepositorySpec>>;

/** `status` of an OCIRepository (reference sources 3.2). */
export const OciRepositoryStatus = SourceStatus.extend({
  observedIgnore: z.string().describe("spec.ignore with which the artifact was made.").exactOptional(),
  observedLayerSelector: LayerSelector.describe("spec.layerSelector with which the artifact was made.").exactOptional(),
});
export type OciRepositoryStatus = Readonly<z.infer<typeof OciRepositoryStatus>>;

/** The unsupported fields that a spec uses. @param clouds providers for which the installation has an identity */
export function unsupportedOciRepositoryFields(
  spec: OciRepositorySpec,
  clouds: readonly OciRepositorySpec["provider"][] = [],
): readonly string[] {
  return unsupportedFields(OciRepositorySpec, spec).filter(
    (field) => field !== "spec.provider" || !clouds.includes(spec.provider),
  );
}
