import { z } from "zod";
import { limited } from "./field-marks.ts";
import { Duration, LocalReference, StringMap } from "./fields.ts";
import { KubeConfig } from "./kube-config.ts";
import { Json6902Patch, Patch, Selector } from "./patch.ts";

/** Each is read in every run that composes values. */
export const maxValuesReferences = 100;
/** Each is a run of kustomize over all objects of the chart. */
export const maxPostRenderers = 100;
/** Each is read in every run. */
export const maxReleaseDependencies = 1_000;
/** Each is parsed in every run. */
export const maxReleaseHealthRules = 100;
/** Each is matched with every object. */
export const maxDriftIgnoreRules = 200;

const name253 = z.string().min(1).max(253);
const namespace63 = z.string().min(1).max(63);
const optionalBoolean = (about: string) => z.boolean().describe(about).exactOptional();
const timeout = Duration.describe(
  "How long one operation of Kubernetes may take; spec.timeout by default.",
).exactOptional();

const ChartSourceReference = z.object({
  apiVersion: z.string().describe("API version of the source.").exactOptional(),
  kind: z.enum(["HelmRepository", "GitRepository", "Bucket"]).describe("Kind of the source."),
  name: name253.describe("Name of the source."),
  namespace: namespace63.describe("Namespace of the source; that of the HelmRelease by default.").exactOptional(),
});

const ChartVerification = z.object({
  provider: z.enum(["cosign", "notation"]).default("cosign").describe("How the chart is signed."),
  secretRef: LocalReference.describe("Secret with the trusted public keys.").exactOptional(),
});

const ChartTemplateSpec = z.object({
  chart: z.string().min(1).max(2048).describe("Name of the chart, or its path in the source."),
  version: z.string().default("*").describe("Version or range of versions of a chart of a HelmRepository."),
  sourceRef: ChartSourceReference.describe("Source of the chart."),
  interval: Duration.describe("Time between two looks at the source; spec.interval by default.").exactOptional(),
  reconcileStrategy: z
    .enum(["ChartVersion", "Revision"])
    .default("ChartVersion")
    .describe("What makes a new artifact: another version of the chart, or any revision of its source."),
  valuesFiles: z.array(z.string()).describe("Values files of the chart, later ones winning.").exactOptional(),
  ignoreMissingValuesFiles: optionalBoolean("Whether values files that are missing are left out."),
  valuesFile: z.string().describe("Former field: use valuesFiles; this is its first entry.").exactOptional(),
  verify: ChartVerification.describe("Signatures that the chart has to have.").exactOptional(),
});

const ChartTemplate = z.object({
  metadata: z
    .object({
      labels: StringMap.describe("Labels of the HelmChart.").exactOptional(),
      annotations: StringMap.describe("Annotations of the HelmChart.").exactOptional(),
    })
    .describe("Metadata of the HelmChart.")
    .exactOptional(),
  spec: ChartTemplateSpec.describe("The HelmChart that is created."),
});

const ChartReference = z.object({
  apiVersion: z.string().describe("API version of the source.").exactOptional(),
  kind: z.enum(["OCIRepository", "HelmChart", "ExternalArtifact"]).describe("Kind of the object with the chart."),
  name: name253.describe("Name of the object with the chart."),
  namespace: namespace63.describe("Its namespace; that of the HelmRelease by default.").exactOptional(),
});

const ValuesReference = z.object({
  kind: z.enum(["Secret", "ConfigMap"]).describe("Kind of the object with the values."),
  name: name253.describe("Name of the object with the values, in the same namespace."),
  valuesKey: z
    .string()
    .max(253)
    .regex(/^[-._a-zA-Z0-9]+$/)
    .describe("Key of the values; values.yaml by default.")
    .exactOptional(),
  targetPath: z
    .string()
    .max(250)
    .regex(/^([a-zA-Z0-9_\-.\\/]|\[[0-9]{1,5}\])+$/)
    .describe("Where to put a single value, in the notation of helm --set; at the root by default.")
    .exactOptional(),
  optional: optionalBoolean("Whether the object or the key may be missing."),
  literal: optionalBoolean("Whether the value at targetPath is taken verbatim."),
});

const Dependency = z.object({
  name: z.string().describe("Name of the HelmRelease that has to be ready first."),
  namespace: z.string().describe("Its namespace; that of the dependant by default.").exactOptional(),
  readyExpr: z.string().describe("CEL expression over self and dep that decides whether it is ready.").exactOptional(),
});

const strategy = (message: string, rule: string, isAllowed: (name: string) => boolean) =>
  z
    .object({
      name: z
        .enum(["RemediateOnFailure", "RetryOnFailure"])
        .describe("What to do after a failure: remediate it, or retry without remediation."),
      retryInterval: Duration.describe("Time until a failed action is retried; 5m by default.").exactOptional(),
    })
    .refine(({ name, retryInterval }) => retryInterval === undefined || isAllowed(name), message)
    .meta({ "x-kubernetes-validations": [{ rule, message }] });

const remediation = {
  retries: z.number().int().describe("How often a failed action is retried; negative: without end.").exactOptional(),
  ignoreTestFailures: optionalBoolean("Whether failed tests need no remediation; test.ignoreFailures by default."),
  remediateLastFailure: optionalBoolean("Whether the last failure is remediated too."),
};

const crds = z
  .enum(["Skip", "Create", "CreateReplace"])
  .describe("What to do with the definitions in crds/.")
  .exactOptional();

const switches = {
  disableTakeOwnership: optionalBoolean("Whether objects that exist and are not the release's are refused."),
  disableWait: optionalBoolean("Whether not to wait until the objects are ready."),
  disableWaitForJobs: optionalBoolean("Whether not to wait until Jobs are complete."),
  disableHooks: optionalBoolean("Whether hooks do not run."),
  disableOpenAPIValidation: optionalBoolean("Whether rendered objects are not validated by the schema of the cluster."),
  disableSchemaValidation: optionalBoolean("Whether values are not validated by values.schema.json."),
};

const Install = z.object({
  timeout,
  strategy: strategy(
    ".retryInterval cannot be set when .name is 'RemediateOnFailure'",
    "!has(self.retryInterval) || self.name != 'RemediateOnFailure'",
    (name) => name !== "RemediateOnFailure",
  )
    .describe("What to do after a failed install.")
    .exactOptional(),
  remediation: z.object(remediation).describe("How a failed install is remediated.").exactOptional(),
  ...switches,
  replace: optionalBoolean("Whether the name of a release that is uninstalled or has failed may be used again."),
  skipCRDs: optionalBoolean("Former field: use crds."),
  crds,
  createNamespace: optionalBoolean("Whether spec.targetNamespace is created."),
  serverSideApply: optionalBoolean("Whether objects are applied server-side; true by default."),
});

const Upgrade = z.object({
  timeout,
  strategy: strategy(
    ".retryInterval can only be set when .name is 'RetryOnFailure'",
    "!has(self.retryInterval) || self.name == 'RetryOnFailure'",
    (name) => name === "RetryOnFailure",
  )
    .describe("What to do after a failed upgrade.")
    .exactOptional(),
  remediation: z
    .object({
      ...remediation,
      strategy: z.enum(["rollback", "uninstall"]).describe("How to remediate; rollback by default.").exactOptional(),
    })
    .describe("How a failed upgrade is remediated.")
    .exactOptional(),
  ...switches,
  force: optionalBoolean("Whether objects are replaced where they are applied client-side."),
  preserveValues: optionalBoolean("Whether the values of the last release are kept below the new ones."),
  cleanupOnFail: optionalBoolean("Whether objects that a failed upgrade has created are deleted."),
  crds,
  serverSideApply: z
    .enum(["enabled", "disabled", "auto"])
    .describe("Whether objects are applied server-side; auto (default): as the last revision was.")
    .exactOptional(),
  chartNameChangeStrategy: z
    .enum(["Reinstall", "InPlaceUpdate"])
    .describe("What to do if the chart gets another name; Reinstall by default.")
    .exactOptional(),
});

const Test = z.object({
  enable: optionalBoolean("Whether the tests of the chart run after an install or upgrade."),
  timeout,
  ignoreFailures: optionalBoolean("Whether failed tests do not count."),
  filters: z
    .array(
      z.object({
        name: name253.describe("Name of the test."),
        exclude: optionalBoolean("Whether the test is left out."),
      }),
    )
    .describe("Which tests run; all by default.")
    .exactOptional(),
});

const Rollback = z.object({
  timeout,
  disableWait: switches.disableWait,
  disableWaitForJobs: switches.disableWaitForJobs,
  disableHooks: switches.disableHooks,
  recreate: optionalBoolean("Former field: has no effect."),
  force: optionalBoolean("Whether objects are replaced where they are applied client-side."),
  cleanupOnFail: optionalBoolean("Whether objects that a failed rollback has created are deleted."),
  serverSideApply: z
    .enum(["enabled", "disabled", "auto"])
    .describe("Whether objects are applied server-side; auto (default): as the revision that is rolled back to was.")
    .exactOptional(),
});

const Uninstall = z.object({
  timeout,
  disableHooks: switches.disableHooks,
  keepHistory: optionalBoolean("Whether the history of the release is kept."),
  disableWait: optionalBoolean("Whether not to wait until the objects are gone."),
  deletionPropagation: z
    .enum(["background", "foreground", "orphan"])
    .describe("How dependents of the objects are deleted; background by default.")
    .exactOptional(),
});

const DriftDetection = z.object({
  mode: z
    .enum(["enabled", "warn", "disabled"])
    .describe("Whether drift is corrected, reported or ignored; disabled by default.")
    .exactOptional(),
  ignore: limited(
    z
      .array(
        z.object({
          paths: z.array(z.string()).describe("JSON pointers to fields; the empty one is the whole object."),
          target: Selector.describe("Objects the rule is for; all by default.").exactOptional(),
        }),
      )
      .describe("Fields that may differ.")
      .exactOptional(),
    { max: maxDriftIgnoreRules, unit: "items" },
  ),
});

const PostRenderer = z.object({
  kustomize: z
    .object({
      patches: z.array(Patch).describe("Patches.").exactOptional(),
      images: z
        .array(
          z.object({
            name: z.string().describe("Name of the image to replace, without tag."),
            newName: z.string().describe("Name to put in its place.").exactOptional(),
            newTag: z.string().describe("Tag to put in its place.").exactOptional(),
            digest: z.string().describe("Digest to put in place of the tag.").exactOptional(),
          }),
        )
        .describe("Image names, tags and digests to replace.")
        .exactOptional(),
      patchesStrategicMerge: z
        .array(z.unknown().meta({ "x-kubernetes-preserve-unknown-fields": true }))
        .describe("Former field: use patches.")
        .exactOptional(),
      patchesJson6902: z.array(Json6902Patch).describe("Former field: use patches.").exactOptional(),
    })
    .describe("Kustomize over the rendered objects.")
    .exactOptional(),
});

const HealthCheckExpression = z.object({
  apiVersion: z.string().describe("API version of the kind; only its group counts."),
  kind: z.string().describe("Kind that the rules are for; every kind of the group if it is empty.").exactOptional(),
  current: z.string().describe("CEL expression: the object is as it should be."),
  inProgress: z.string().describe("CEL expression: the object is still on its way.").exactOptional(),
  failed: z.string().describe("CEL expression: the object has failed.").exactOptional(),
});

export const eitherChart = "either chart or chartRef must be set";

/** The fields of `spec`, for code that reads some of them. */
export const HelmReleaseFields = z.object({
  chart: ChartTemplate.describe("HelmChart that is created for the release.").exactOptional(),
  chartRef: ChartReference.describe("Object that has the chart.").exactOptional(),
  interval: Duration.describe("Time between two runs where no event asks for one."),
  kubeConfig: KubeConfig.describe("Another cluster to install in.").exactOptional(),
  suspend: optionalBoolean("Whether to leave everything as it is until further notice."),
  releaseName: z
    .string()
    .min(1)
    .max(53)
    .describe("Name of the release; made of namespace and name by default.")
    .exactOptional(),
  targetNamespace: namespace63
    .describe("Namespace of the release; that of the HelmRelease by default.")
    .exactOptional(),
  storageNamespace: namespace63
    .describe("Namespace of the release's Secrets; that of the HelmRelease by default.")
    .exactOptional(),
  dependsOn: limited(z.array(Dependency).describe("HelmReleases that have to be ready first.").exactOptional(), {
    max: maxReleaseDependencies,
    unit: "items",
  }),
  timeout: Duration.describe("How long one operation of Kubernetes may take; 5m by default.").exactOptional(),
  maxHistory: z.number().int().describe("Revisions that are kept; 5 by default, 0 for all.").exactOptional(),
  serviceAccountName: name253
    .describe("Service account of this namespace to apply as; Sluice's own rights by default.")
    .exactOptional(),
  persistentClient: optionalBoolean("Former field: has no effect."),
  driftDetection: DriftDetection.describe("Whether changes by others are found and corrected.").exactOptional(),
  install: Install.describe("How the release is installed.").exactOptional(),
  upgrade: Upgrade.describe("How the release is upgraded.").exactOptional(),
  test: Test.describe("How the release is tested.").exactOptional(),
  rollback: Rollback.describe("How a failed upgrade is rolled back.").exactOptional(),
  uninstall: Uninstall.describe("How the release is uninstalled.").exactOptional(),
  valuesFrom: limited(
    z.array(ValuesReference).describe("ConfigMaps and Secrets with values; later ones win.").exactOptional(),
    { max: maxValuesReferences, unit: "items" },
  ),
  values: z
    .unknown()
    .meta({ description: "Values; they win over those of valuesFrom.", "x-kubernetes-preserve-unknown-fields": true })
    .exactOptional(),
  commonMetadata: z
    .object({
      labels: StringMap.describe("Labels for every object.").exactOptional(),
      annotations: StringMap.describe("Annotations for every object.").exactOptional(),
    })
    .describe("Labels and annotations for every object; they win over those of the chart.")
    .exactOptional(),
  postRenderers: limited(z.array(PostRenderer).describe("Changes to the rendered objects, in order.").exactOptional(), {
    max: maxPostRenderers,
    unit: "items",
  }),
  postRenderStrategy: z
    .enum(["combined", "nohooks", "separate"])
    .describe("Whether hooks are post-rendered with the templates (default), not at all, or separately.")
    .exactOptional(),
  waitStrategy: z
    .object({ name: z.enum(["poller", "legacy"]).describe("How readiness is judged: poller or legacy.") })
    .describe("How to wait for objects.")
    .exactOptional(),
  healthCheckExprs: limited(
    z.array(HealthCheckExpression).describe("Health rules for kinds; they replace the built-in ones.").exactOptional(),
    { max: maxReleaseHealthRules, unit: "items" },
  ),
});

/** `spec` of a HelmRelease (reference helmrelease 2). The CRD is generated from it. */
export const HelmReleaseSpec = HelmReleaseFields.refine(
  ({ chart, chartRef }) => (chart === undefined) !== (chartRef === undefined),
  eitherChart,
).meta({
  "x-kubernetes-validations": [
    {
      rule: "(has(self.chart) && !has(self.chartRef)) || (!has(self.chart) && has(self.chartRef))",
      message: eitherChart,
    },
  ],
});
export type HelmReleaseSpec = Readonly<z.infer<typeof HelmReleaseSpec>>;
