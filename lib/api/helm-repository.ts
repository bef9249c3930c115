import { z } from "zod";
import { isDurationHeld } from "../core/duration.ts";
import { Duration, LocalReference, StringMap, tooLong } from "./fields.ts";
import { SourceStatus } from "./source.ts";

/** `spec` of a HelmRepository (reference sources 6.1). The CRD is generated from it. */
export const HelmRepositorySpec = z.object({
  url: z
    .string()
    .regex(/^(http|https|oci):\/\/.*$/, "must begin with http://, https:// or oci://")
    .describe("Address of the repository, without index.yaml; with type oci the registry, oci://<host>/<path>."),
  type: z
    .enum(["default", "oci"])
    .describe("Whether it is a server with an index (default) or a registry, which is read by HelmCharts alone (oci).")
    .exactOptional(),
  secretRef: LocalReference.describe(
    "Secret with username and password; with type oci it may be of type kubernetes.io/dockerconfigjson.",
  ).exactOptional(),
  certSecretRef: LocalReference.describe("Secret with tls.crt and tls.key, ca.crt or both.").exactOptional(),
  passCredentials: z
    .boolean()
    .describe("Whether the credentials are also sent to other hosts that the index names for charts.")
    .exactOptional(),
  interval: Duration.describe(
    "Time between two looks at the index, a minute by default. Without effect for type oci.",
  ).exactOptional(),
  timeout: z
    .string()
    .regex(/^([0-9]+(\.[0-9]+)?(ms|s|m))+$/, "must be a duration such as 30s or 1m30s, without hours")
    .refine(isDurationHeld, tooLong)
    .describe("How long the download of the index may take, a minute by default.")
    .exactOptional(),
  insecure: z.boolean().describe("Whether plain HTTP is allowed. Only for type oci.").exactOptional(),
  provider: z
    .enum(["generic", "aws", "azure", "gcp"])
    .default("generic")
    .describe("How to log in with type oci: generic, or the identity of a cloud."),
  accessFrom: z
    .object({ namespaceSelectors: z.array(z.object({ matchLabels: StringMap.exactOptional() })) })
    .describe("Kept, and without effect, as in Flux: only objects of its own namespace can name it.")
    .exactOptional(),
  suspend: z.boolean().describe("Whether to leave the artifact as it is until further notice.").exactOptional(),
});
export type HelmRepositorySpec = Readonly<z.infer<typeof HelmRepositorySpec>>;

/** `status` of a HelmRepository: that of every source. */
export const HelmRepositoryStatus = SourceStatus;
