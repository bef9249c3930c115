import { z } from "zod";
import { Conditions } from "./condition.ts";
import { limited } from "./field-marks.ts";
import { StringMap } from "./fields.ts";

/** The limit for `spec.sources` and for `spec.artifacts`, as in the definition. */
const maxItems = 1_000;
const maxPathChars = 1_024;
const maxExcludes = 100;

/** Operations of all artifacts together. Flux has no limit; each operation may look at every file. */
export const maxCopyOperations = 2_000;

const alias = "([a-z0-9]([a-z0-9_-]*[a-z0-9])?)";
const ofSource = new RegExp(`^@${alias}$`);
const belowSource = new RegExp(`^@${alias}/(.*)$`);
const objectName = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

const SourceReference = z.object({
  alias: z
    .string()
    .max(63)
    .regex(/^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$/, "must consist of lower-case letters, digits, - and _")
    .describe("Name of the source in this object."),
  kind: z
    .enum(["Bucket", "GitRepository", "OCIRepository", "HelmChart", "ExternalArtifact"])
    .describe("Kind of the source."),
  name: z
    .string()
    .max(253)
    .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, "must consist of lower-case letters, digits and -")
    .describe("Name of the source."),
  namespace: z
    .string()
    .min(1)
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, "must consist of lower-case letters, digits and -")
    .describe("Namespace of the source; that of the ArtifactGenerator by default.")
    .exactOptional(),
});
export type SourceReference = Readonly<z.infer<typeof SourceReference>>;

const CopyOperation = z.object({
  from: z
    .string()
    .min(1)
    .max(maxPathChars)
    .regex(belowSource, "must be @<alias>/<path or glob>")
    .describe("What to take, @<alias>/<path or glob>; may hold captures of pathPattern."),
  to: z
    .string()
    .min(1)
    .max(maxPathChars)
    .regex(/^@(artifact)\/(.*)$/, "must be @artifact/<path>")
    .describe("Where to put it, @artifact/<path>; may hold captures of pathPattern."),
  exclude: z.array(z.string()).max(maxExcludes).describe("Globs of files and folders to leave out.").exactOptional(),
  strategy: z
    .enum(["Overwrite", "Merge", "Extract"])
    .describe("Whether files are replaced (the default), YAML files are merged, or tarballs are unpacked.")
    .exactOptional(),
});
export type CopyOperation = Readonly<z.infer<typeof CopyOperation>>;

const OutputArtifact = z.object({
  name: z
    .string()
    .min(1)
    .max(253)
    .describe("Name of the ExternalArtifact, in the own namespace; may hold captures of pathPattern."),
  revision: z
    .string()
    .max(64)
    .regex(ofSource, "must be @<alias>")
    .describe("Source whose revision the artifact has, @<alias>; by default it has one of its content.")
    .exactOptional(),
  originRevision: z
    .string()
    .max(64)
    .regex(ofSource, "must be @<alias>")
    .describe("Source whose origin revision the metadata of the artifact names, @<alias>.")
    .exactOptional(),
  copy: z.array(CopyOperation).min(1).describe("Operations, in order; later ones replace files of earlier ones."),
});
export type OutputArtifact = Readonly<z.infer<typeof OutputArtifact>>;

/** `spec` of an ArtifactGenerator (reference sources 10.1). The CRD is generated from it. */
export const ArtifactGeneratorSpec = z
  .object({
    commonMetadata: z
      .object({
        annotations: StringMap.describe("Annotations of every ExternalArtifact.").exactOptional(),
        labels: StringMap.describe("Labels of every ExternalArtifact.").exactOptional(),
      })
      .describe("Metadata of every ExternalArtifact.")
      .exactOptional(),
    sources: z.array(SourceReference).min(1).max(maxItems).describe("What the artifacts are made from."),
    pathPattern: z
      .string()
      .max(maxPathChars)
      .regex(belowSource, "must be @<alias>/<pattern>")
      .describe("Folders of a source, @<alias>/<pattern> with captures such as {app}; each makes its own artifacts.")
      .exactOptional(),
    artifacts: limited(z.array(OutputArtifact).min(1).max(maxItems).describe("Artifacts to make."), {
      max: maxCopyOperations,
      unit: "items",
      measure: (_artifacts, spec) => operationsIn(spec),
    }),
  })
  .meta({
    "x-kubernetes-validations": [
      {
        rule: `has(self.pathPattern) && size(self.pathPattern) > 0 || self.artifacts.all(a, a.name.matches('${objectName.replaceAll("\\", "\\\\")}'))`,
        message: "artifact names must be valid Kubernetes object names when pathPattern is not set",
      },
    ],
  });
export type ArtifactGeneratorSpec = Readonly<z.infer<typeof ArtifactGeneratorSpec>>;

function operationsIn({ artifacts }: { readonly artifacts?: unknown }): number {
  const list: readonly unknown[] = Array.isArray(artifacts) ? artifacts : [];
  return list.reduce<number>((sum, one) => {
    const copy = typeof one === "object" && one !== null && "copy" in one ? one.copy : [];
    return sum + (Array.isArray(copy) ? copy.length : 0);
  }, 0);
}

const GeneratedArtifact = z.object({
  name: z.string().describe("Name of the ExternalArtifact."),
  namespace: z.string().describe("Namespace of the ExternalArtifact."),
  digest: z.string().describe("Digest of its artifact."),
  filename: z.string().describe("Name of the file."),
});
/** An entry of `status.inventory`: an ExternalArtifact that this object has made. */
export type GeneratedArtifact = Readonly<z.infer<typeof GeneratedArtifact>>;

/** `status` of an ArtifactGenerator (reference sources 10.1). It has no `observedGeneration`: its conditions have. */
export const ArtifactGeneratorStatus = z.object({
  conditions: Conditions.exactOptional(),
  inventory: z.array(GeneratedArtifact).describe("ExternalArtifacts that were made.").exactOptional(),
  observedSourcesDigest: z
    .string()
    .describe("Digest of the sources that the artifacts were made from.")
    .exactOptional(),
  lastHandledReconcileAt: z.string().describe("Value of the last handled request for a run.").exactOptional(),
});
export type ArtifactGeneratorStatus = Readonly<z.infer<typeof ArtifactGeneratorStatus>>;

/** The annotation that pauses an ArtifactGenerator, with the value `disabled` in any case. */
export const generatorReconcileAnnotation = "source.extensions.fluxcd.io/reconcile";

/** The label of an ExternalArtifact with the uid of the ArtifactGenerator that made it. */
export const generatorLabel = "source.extensions.fluxcd.io/generator";
