import { z } from "zod";
import { Conditions } from "./condition.ts";

const dateTime = z.string().meta({ format: "date-time" });

/** The run of a test of a chart. An empty one was left out by a filter. */
const TestHookStatus = z.object({
  lastStarted: dateTime.describe("When the test began.").exactOptional(),
  lastCompleted: dateTime.describe("When the test ended.").exactOptional(),
  phase: z.string().describe("How the test ended.").exactOptional(),
});

/** The observed state of one revision of a release (reference helmrelease 13). */
export const ReleaseSnapshot = z.object({
  apiVersion: z.string().describe("Version of the digest's input.").exactOptional(),
  digest: z.string().describe("Digest of the release's record."),
  name: z.string().describe("Name of the release."),
  namespace: z.string().describe("Namespace of the release."),
  version: z.number().int().describe("Revision of the release."),
  status: z.string().describe("Status of the revision in Helm's words."),
  action: z
    .enum(["install", "upgrade", "rollback", "uninstall", "uninstall-remediation"])
    .describe("The action that created or last changed the revision.")
    .exactOptional(),
  chartName: z.string().describe("Name of the chart."),
  chartVersion: z.string().describe("Version of the chart."),
  appVersion: z.string().describe("Version of the application, as the chart has it.").exactOptional(),
  configDigest: z.string().describe("Digest of the values."),
  firstDeployed: dateTime.describe("When the release was installed."),
  lastDeployed: dateTime.describe("When the revision was deployed."),
  deleted: dateTime.describe("When the release was uninstalled.").exactOptional(),
  testHooks: z.record(z.string(), TestHookStatus).describe("Tests of the chart and how they ended.").exactOptional(),
  ociDigest: z.string().describe("Digest of the artifact that the chart is from.").exactOptional(),
});
export type ReleaseSnapshot = Readonly<z.infer<typeof ReleaseSnapshot>>;

const count = z.number().int();

/** `status` of a HelmRelease (reference helmrelease 3). */
export const HelmReleaseStatus = z.object({
  observedGeneration: count.describe("Generation that was last handled; -1 before the first.").exactOptional(),
  observedPostRenderersDigest: z.string().describe("Digest of the post-renderers that were last used.").exactOptional(),
  observedCommonMetadataDigest: z
    .string()
    .describe("Digest of the common metadata that was last used.")
    .exactOptional(),
  lastAttemptedGeneration: count.describe("Generation of the last attempt.").exactOptional(),
  conditions: Conditions.exactOptional(),
  helmChart: z.string().describe("namespace/name of the HelmChart that was created.").exactOptional(),
  storageNamespace: z.string().describe("Namespace of the Secrets of the current release.").exactOptional(),
  history: z.array(ReleaseSnapshot).describe("Revisions of the release, newest first.").exactOptional(),
  inventory: z
    .object({
      entries: z
        .array(
          z.object({
            id: z.string().describe("namespace_name_group_kind of the object."),
            v: z.string().describe("API version of the object, without its group."),
          }),
        )
        .describe("The objects."),
    })
    .describe("Objects that the release has in the cluster.")
    .exactOptional(),
  lastAttemptedReleaseAction: z.enum(["install", "upgrade"]).describe("The last attempt.").exactOptional(),
  lastAttemptedReleaseActionDuration: z.string().describe("How long the last attempt took.").exactOptional(),
  failures: count.describe("Failures since the last success.").exactOptional(),
  installFailures: count.describe("Failed installs since the last change.").exactOptional(),
  upgradeFailures: count.describe("Failed upgrades since the last change.").exactOptional(),
  lastAttemptedRevision: z.string().describe("Version of the chart at the last attempt.").exactOptional(),
  lastAttemptedRevisionDigest: z
    .string()
    .describe("Digest of the chart's artifact at the last attempt.")
    .exactOptional(),
  lastAttemptedValuesChecksum: z.string().describe("Former field.").exactOptional(),
  lastReleaseRevision: count.describe("Former field.").exactOptional(),
  lastAttemptedConfigDigest: z.string().describe("Digest of the values at the last attempt.").exactOptional(),
  lastHandledReconcileAt: z.string().describe("Value of the last handled request for a run.").exactOptional(),
  lastHandledForceAt: z.string().describe("Value of the last handled request to force an upgrade.").exactOptional(),
  lastHandledResetAt: z.string().describe("Value of the last handled request to reset counters.").exactOptional(),
});
export type HelmReleaseStatus = Readonly<z.infer<typeof HelmReleaseStatus>>;
