import { z } from "zod";
import { Duration, LocalReference, StringMap } from "./fields.ts";
import { Json6902Patch, Patch, Selector } from "./patch.ts";

const SourceReference = z.object({
  apiVersion: z.string().describe("API version of the source; accepted and not used.").exactOptional(),
  kind: z.enum(["OCIRepository", "GitRepository", "Bucket", "ExternalArtifact"]).describe("Kind of the source."),
  name: z.string().describe("Name of the source."),
  namespace: z.string().describe("Namespace of the source; that of the Kustomization by default.").exactOptional(),
});

const Dependency = z.object({
  name: z.string().describe("Name of the Kustomization that has to be ready first."),
  namespace: z.string().describe("Its namespace; that of the dependant by default.").exactOptional(),
  readyExpr: z.string().describe("CEL expression that decides whether it is ready.").exactOptional(),
});

const HealthCheck = z.object({
  apiVersion: z.string().describe("API version of the object; apps/v1 where it is empty.").exactOptional(),
  kind: z.string().describe("Kind of the object."),
  name: z.string().describe("Name of the object."),
  namespace: z.string().describe("Namespace of the object.").exactOptional(),
});

const HealthCheckExpression = z.object({
  apiVersion: z.string().describe("API version of the kind; only its group counts."),
  kind: z.string().describe("Kind that the rules are for; every kind of the group where it is empty.").exactOptional(),
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

const oneOfKubeConfig = "exactly one of spec.kubeConfig.configMapRef or spec.kubeConfig.secretRef must be specified";
const KubeConfig = z
  .object({
    secretRef: z
      .object({
        name: z.string().describe("Name of the Secret."),
        key: z.string().describe("Key of the kubeconfig; value, then value.yaml by default.").exactOptional(),
      })
      .describe("Secret with a kubeconfig.")
      .exactOptional(),
    configMapRef: LocalReference.describe("ConfigMap with the parameters of a cloud login.").exactOptional(),
  })
  .refine(({ secretRef, configMapRef }) => (secretRef === undefined) !== (configMapRef === undefined), oneOfKubeConfig)
  .meta({
    "x-kubernetes-validations": [
      { rule: "has(self.configMapRef) || has(self.secretRef)", message: oneOfKubeConfig },
      { rule: "!has(self.configMapRef) || !has(self.secretRef)", message: oneOfKubeConfig },
    ],
  });

const SubstituteReference = z.object({
  kind: z.enum(["Secret", "ConfigMap"]).describe("Kind of the object with the values."),
  name: z.string().min(1).max(253).describe("Name of the object with the values, in the same namespace."),
  optional: z.boolean().default(false).describe("Whether the object may be missing."),
});

const PostBuild = z.object({
  substitute: StringMap.describe("Variables and their values; they win over substituteFrom.").exactOptional(),
  substituteFrom: z
    .array(SubstituteReference)
    .describe("ConfigMaps and Secrets with variables; later ones win.")
    .exactOptional(),
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
 * What API versions before v1 had and v1 has no more. Kept in every version: a field that the API server drops could neither
 * be honoured nor refused.
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
  serviceAccount: z
    .object({
      name: z.string().describe("Name of the service account."),
      namespace: z.string().describe("Namespace of the service account."),
    })
    .describe("Former field: use serviceAccountName.")
    .exactOptional(),
};

/** `spec` of a Kustomization (reference kustomization 1.2 and 1.3). The CRD is generated from it. */
export const KustomizationSpec = z.object({
  interval: Duration.describe("Time between two runs where no event asks for one."),
  retryInterval: Duration.describe("Time until a failed run is repeated; the interval by default.").exactOptional(),
  timeout: Duration.describe(
    "How long to wait for health; interval minus 30s by default, at least 30s.",
  ).exactOptional(),
  sourceRef: SourceReference.describe("Source whose artifact is applied."),
  path: z.string().describe("Folder inside the artifact; its root by default.").exactOptional(),
  prune: z.boolean().describe("Whether objects that the artifact no longer holds are deleted."),
  deletionPolicy: z
    .enum(["MirrorPrune", "Delete", "WaitForTermination", "Orphan"])
    .describe("What becomes of the objects when the Kustomization is deleted: MirrorPrune by default.")
    .exactOptional(),
  suspend: z.boolean().describe("Whether to leave everything as it is until further notice.").exactOptional(),
  targetNamespace: z.string().min(1).max(63).describe("Namespace to put all objects in.").exactOptional(),
  namePrefix: z.string().min(1).max(200).describe("Text to put before every name.").exactOptional(),
  nameSuffix: z.string().min(1).max(200).describe("Text to put after every name.").exactOptional(),
  commonMetadata: z
    .object({
      labels: StringMap.describe("Labels for every object.").exactOptional(),
      annotations: StringMap.describe("Annotations for every object.").exactOptional(),
    })
    .describe("Labels and annotations for every object; they win over those of the manifest.")
    .exactOptional(),
  patches: z.array(Patch).describe("Patches, applied after those of the kustomization file.").exactOptional(),
  images: z.array(Image).describe("Image names, tags and digests to replace.").exactOptional(),
  components: z.array(z.string()).describe("Kustomize components, as relative paths.").exactOptional(),
  ignoreMissingComponents: z.boolean().describe("Whether components may be missing.").exactOptional(),
  buildMetadata: z
    .array(z.enum(["originAnnotations", "transformerAnnotations"]))
    .describe("What kustomize notes on the objects about their making.")
    .exactOptional(),
  postBuild: PostBuild.describe("Variables to substitute in the built manifests.").exactOptional(),
  decryption: Decryption.describe("How encrypted manifests are decrypted.").exactOptional(),
  serviceAccountName: z.string().describe("Service account to act as.").exactOptional(),
  kubeConfig: KubeConfig.describe("Another cluster to apply to.").exactOptional(),
  force: z.boolean().default(false).describe("Whether to recreate objects whose immutable fields change."),
  wait: z
    .boolean()
    .describe("Whether to check the health of everything applied; healthChecks are then left out.")
    .exactOptional(),
  healthChecks: z.array(HealthCheck).describe("Objects whose health is checked.").exactOptional(),
  healthCheckExprs: z.array(HealthCheckExpression).describe("Health rules for kinds.").exactOptional(),
  dependsOn: z.array(Dependency).describe("Kustomizations that have to be ready first.").exactOptional(),
  ignore: z
    .array(
      z.object({
        paths: z.array(z.string()).describe("JSON pointers to fields."),
        target: Selector.describe("Objects the rule is for; all by default.").exactOptional(),
      }),
    )
    .describe("Fields that are left alone.")
    .exactOptional(),
  ...formerFields,
});
export type KustomizationSpec = Readonly<z.infer<typeof KustomizationSpec>>;
