import { z } from "zod";
import { formatJson, isJsonObject, type JsonObject } from "../core/json.ts";
import { limited } from "./field-marks.ts";
import { Duration, LocalReference, StringMap } from "./fields.ts";
import { KubeConfig } from "./kube-config.ts";
import { Json6902Patch, Patch, Selector } from "./patch.ts";

// An API server takes an object of about 1.5 MB, which each of these fields could fill.
/** The limit for `spec.patches` and its former fields together. */
export const maxPatches = 1_000;
export const maxPatchBytes = 1024 * 1024;
/** Each is compared with every container of every object. */
export const maxImages = 1_000;
export const maxComponents = 1_000;
/** Each is read in every run. */
export const maxVariableSources = 100;
/** The limit for labels, and for annotations: they are written on every object. */
export const maxCommonMetadata = 1_000;
/** Each is read in every run. */
export const maxDependencies = 1_000;
/** Each is read again and again until it is healthy. */
export const maxHealthChecks = 5_000;
/** Each is parsed in every run. */
export const maxHealthRules = 100;
/** Each is matched with every object. */
export const maxIgnoreRules = 200;
/** The limit for one rule: each path is looked up in every object that the rule matches. */
export const maxIgnoredPaths = 500;
/** The limit for one field of a rule's target: a pattern of that length may take 10 ms for one name. */
export const maxSelectorLength = 1_024;
/** No artifact has a longer path. */
export const maxPathLength = 4_096;

const SourceReference = z.object({
  apiVersion: z.string().describe("API version of the source; accepted and not used.").exactOptional(),
  kind: z.enum(["OCIRepository", "GitRepository", "Bucket", "ExternalArtifact"]).describe("Kind of the source."),
  name: z.string().describe("Name of the source."),
  namespace: z.string().describe("Namespace of the source; that of the Kustomization by default.").exactOptional(),
});

const Dependency = z.object({
  name: z.string().describe("Name of the Kustomization that has to be ready first."),
  namespace: z.string().describe("Its namespace; that of the dependant by default.").exactOptional(),
  readyExpr: z.string().describe("CEL expression over self and dep that decides whether it is ready.").exactOptional(),
});

const HealthCheck = z.object({
  apiVersion: z.string().describe("API version of the object; apps/v1 where it is empty.").exactOptional(),
  kind: z.string().describe("Kind of the object."),
  name: z.string().describe("Name of the object."),
  namespace: z.string().describe("Namespace of the object.").exactOptional(),
});

const HealthCheckExpression = z.object({
  apiVersion: z.string().describe("API version of the kind; only its group counts."),
  kind: z.string().describe("Kind that the rules are for; every kind of the group if it is empty.").exactOptional(),
  current: z.string().describe("CEL expression: the object is as it should be."),
  inProgress: z.string().describe("CEL expression: the object is still on its way.").exactOptional(),
  failed: z.string().describe("CEL expression: the object has failed.").exactOptional(),
});

const Image = z.object({
  name: z.string().describe("Name of the image to replace, without tag."),
  newName: z.string().describe("Name to put in its place.").exactOptional(),
  newTag: z.string().describe("Tag to put in its place.").exactOptional(),
  digest: z.string().describe("Digest to put in place of the tag.").exactOptional(),
});

const IgnoreRule = z.object({
  paths: limited(z.array(z.string()).describe("JSON pointers to fields."), { max: maxIgnoredPaths, unit: "items" }),
  target: limited(Selector.describe("Objects the rule is for; all by default.").exactOptional(), {
    max: maxSelectorLength,
    unit: "characters",
    measure: (target) => Math.max(0, ...Object.values(isJsonObject(target) ? target : {}).map(lengthOfText)),
  }),
});

function lengthOfText(value: unknown): number {
  return typeof value === "string" ? value.length : 0;
}

const SubstituteReference = z.object({
  kind: z.enum(["Secret", "ConfigMap"]).describe("Kind of the object with the values."),
  name: z.string().min(1).max(253).describe("Name of the object with the values, in the same namespace."),
  optional: z.boolean().default(false).describe("Whether the object may be missing."),
});

const PostBuild = z.object({
  substitute: StringMap.describe("Variables and their values; they win over substituteFrom.").exactOptional(),
  substituteFrom: limited(
    z.array(SubstituteReference).describe("ConfigMaps and Secrets with variables; later ones win.").exactOptional(),
    { max: maxVariableSources, unit: "items" },
  ),
  substituteStrategy: z
    .enum(["WithVariables", "Always"])
    .describe("Whether to substitute where no variable is given: WithVariables (default) or Always.")
    .exactOptional(),
});

const Decryption = z.object({
  provider: z.enum(["sops"]).describe("How the manifests are encrypted."),
  secretRef: LocalReference.describe("Secret with the private keys.").exactOptional(),
  serviceAccountName: z.string().describe("Service account whose cloud identity may use the keys.").exactOptional(),
});

/**
 * Fields of API versions before v1. Every version keeps them: a field that the API server drops could be neither honoured nor
 * refused.
 */
const formerFields = {
  validation: z
    .enum(["none", "client", "server"])
    .describe("Former field: objects are validated before anything is applied, whatever it says.")
    .exactOptional(),
  patchesStrategicMerge: z
    .array(z.unknown().meta({ "x-kubernetes-preserve-unknown-fields": true }))
    .describe("Former field: use patches.")
    .exactOptional(),
  patchesJson6902: z.array(Json6902Patch).describe("Former field: use patches.").exactOptional(),
  // Refused (spec-references.ts): it could name an account of another namespace.
  serviceAccount: z
    .object({
      name: z.string().describe("Name of the service account."),
      namespace: z.string().describe("Namespace of the service account."),
    })
    .describe("Former field: use serviceAccountName.")
    .exactOptional(),
};

/**
 * `spec` of a Kustomization (reference kustomization 1.2 and 1.3). A field is declared here once, with its limits and with a
 * mark if Sluice does not honour it yet: the CRD, the checks of limits and the refusal of unsupported fields follow from it.
 */
export const KustomizationSpec = z.object({
  interval: Duration.describe("Time between two runs where no event asks for one."),
  retryInterval: Duration.describe("Time until a failed run is repeated; the interval by default.").exactOptional(),
  timeout: Duration.describe(
    "How long to wait for health; interval minus 30s by default, at least 30s.",
  ).exactOptional(),
  sourceRef: SourceReference.describe("Source whose artifact is applied."),
  path: limited(z.string().describe("Folder inside the artifact; its root by default.").exactOptional(), {
    max: maxPathLength,
    unit: "characters",
  }),
  prune: z.boolean().describe("Whether objects that the artifact no longer holds are deleted."),
  deletionPolicy: z
    .enum(["MirrorPrune", "Delete", "WaitForTermination", "Orphan"])
    .describe("What happens to the objects when the Kustomization is deleted: MirrorPrune by default.")
    .exactOptional(),
  suspend: z.boolean().describe("Whether to leave everything as it is until further notice.").exactOptional(),
  targetNamespace: z.string().min(1).max(63).describe("Namespace to put all objects in.").exactOptional(),
  namePrefix: z.string().min(1).max(200).describe("Text to put before every name.").exactOptional(),
  nameSuffix: z.string().min(1).max(200).describe("Text to put after every name.").exactOptional(),
  commonMetadata: z
    .object({
      labels: limited(StringMap.describe("Labels for every object.").exactOptional(), {
        max: maxCommonMetadata,
        unit: "items",
      }),
      annotations: limited(StringMap.describe("Annotations for every object.").exactOptional(), {
        max: maxCommonMetadata,
        unit: "items",
      }),
    })
    .describe("Labels and annotations for every object; they win over those of the manifest.")
    .exactOptional(),
  patches: limited(
    z.array(Patch).describe("Patches, applied after those of the kustomization file.").exactOptional(),
    { max: maxPatches, unit: "items", measure: (_patches, spec) => allPatches(spec).length },
    {
      max: maxPatchBytes,
      unit: "bytes",
      measure: (_patches, spec) =>
        allPatches(spec).reduce<number>((sum, patch) => sum + Buffer.byteLength(formatJson(patch)), 0),
    },
  ),
  images: limited(z.array(Image).describe("Image names, tags and digests to replace.").exactOptional(), {
    max: maxImages,
    unit: "items",
  }),
  components: limited(z.array(z.string()).describe("Kustomize components, as relative paths.").exactOptional(), {
    max: maxComponents,
    unit: "items",
  }),
  ignoreMissingComponents: z.boolean().describe("Whether components may be missing.").exactOptional(),
  buildMetadata: z
    .array(z.enum(["originAnnotations", "transformerAnnotations"]))
    .describe("Annotations with which kustomize records how it built the objects.")
    .exactOptional(),
  postBuild: PostBuild.describe("Variables to substitute in the built manifests.").exactOptional(),
  decryption: Decryption.describe("How encrypted manifests are decrypted.").exactOptional(),
  serviceAccountName: z
    .string()
    .describe("Service account of this namespace to apply as; Sluice's own rights by default.")
    .exactOptional(),
  kubeConfig: KubeConfig.describe("Another cluster to apply to.").exactOptional(),
  force: z.boolean().default(false).describe("Whether to recreate objects whose immutable fields change."),
  wait: z
    .boolean()
    .describe("Whether to check the health of everything applied; healthChecks are then left out.")
    .exactOptional(),
  healthChecks: limited(z.array(HealthCheck).describe("Objects whose health is checked.").exactOptional(), {
    max: maxHealthChecks,
    unit: "items",
  }),
  healthCheckExprs: limited(
    z.array(HealthCheckExpression).describe("Health rules for kinds; they replace the built-in ones.").exactOptional(),
    { max: maxHealthRules, unit: "items" },
  ),
  dependsOn: limited(z.array(Dependency).describe("Kustomizations that have to be ready first.").exactOptional(), {
    max: maxDependencies,
    unit: "items",
  }),
  ignore: limited(z.array(IgnoreRule).describe("Fields that are left alone.").exactOptional(), {
    max: maxIgnoreRules,
    unit: "items",
  }),
  ...formerFields,
});
export type KustomizationSpec = Readonly<z.infer<typeof KustomizationSpec>>;

/** The patches of a spec, those of the former fields too. */
function allPatches(spec: JsonObject): readonly unknown[] {
  return [spec["patches"], spec["patchesStrategicMerge"], spec["patchesJson6902"]].flatMap((list) => list ?? []);
}
