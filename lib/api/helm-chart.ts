import { z } from "zod";
import { limited, overLimits } from "./field-marks.ts";
import { Duration } from "./fields.ts";
import { SignatureVerification } from "./oci-repository.ts";
import { SourceStatus } from "./source.ts";

/** Each of these is read in one run. */
export const maxValuesFiles = 100;

const onlyHelmRepositories = "spec.verify is only supported when spec.sourceRef.kind is 'HelmRepository'";

const SourceReference = z.object({
  apiVersion: z.string().describe("API version of the source.").exactOptional(),
  kind: z
    .enum(["HelmRepository", "GitRepository", "Bucket", "OCIRepository"])
    .describe("Kind of the source: a repository of charts, or one whose artifact holds the chart."),
  name: z.string().describe("Name of the source, in the same namespace."),
});

/** As of an OCIRepository, but for a trust root of one's own, which Flux's HelmChart does not have. */
const Verification = SignatureVerification.omit({ trustedRootSecretRef: true });

/** `spec` of a HelmChart (reference sources 7.1). The CRD is generated from it. */
export const HelmChartSpec = z
  .object({
    chart: z.string().describe("Name of the chart in a HelmRepository, or its path in the artifact of another source."),
    version: z
      .string()
      .default("*")
      .describe("Version or range of versions; the newest in it is taken. Only for a HelmRepository."),
    sourceRef: SourceReference.describe("Source of the chart."),
    interval: Duration.describe("Time between two looks at the source where no event asks for one."),
    reconcileStrategy: z
      .enum(["ChartVersion", "Revision"])
      .default("ChartVersion")
      .describe("What makes a new artifact: another version of the chart, or any revision of its source."),
    valuesFiles: limited(
      z
        .array(z.string())
        .describe("Files whose values are merged, later ones winning, and take the place of the chart's values.yaml.")
        .exactOptional(),
      { max: maxValuesFiles, unit: "items" },
    ),
    ignoreMissingValuesFiles: z
      .boolean()
      .describe("Whether values files that are missing are left out.")
      .exactOptional(),
    suspend: z.boolean().describe("Whether to leave the artifact as it is until further notice.").exactOptional(),
    verify: Verification.describe(
      "Signatures that the chart has to have. Only for a HelmRepository of type oci.",
    ).exactOptional(),
  })
  .refine(({ sourceRef, verify }) => verify === undefined || sourceRef.kind === "HelmRepository", onlyHelmRepositories)
  .meta({
    "x-kubernetes-validations": [
      { rule: "!has(self.verify) || self.sourceRef.kind == 'HelmRepository'", message: onlyHelmRepositories },
    ],
  });
export type HelmChartSpec = Readonly<z.infer<typeof HelmChartSpec>>;

/** `status` of a HelmChart (reference sources 7.1). */
export const HelmChartStatus = SourceStatus.extend({
  observedChartName: z.string().describe("Name of the chart in the artifact.").exactOptional(),
  observedSourceArtifactRevision: z
    .string()
    .describe("Revision of the source that was last looked at.")
    .exactOptional(),
  observedValuesFiles: z
    .array(z.string())
    .describe("Values files that were merged, where missing ones are left out.")
    .exactOptional(),
});
export type HelmChartStatus = Readonly<z.infer<typeof HelmChartStatus>>;

/** One text for each field that exceeds its limit. */
export function overHelmChartLimits(spec: HelmChartSpec): readonly string[] {
  return overLimits(HelmChartSpec, spec);
}
