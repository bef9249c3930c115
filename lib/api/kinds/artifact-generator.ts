import { sourceExtensionsGroup } from "../names.ts";
import { ageColumn, type KindDeclaration, readyColumn, statusColumn } from "./declaration.ts";

export const declaredArtifactGenerator = {
  group: sourceExtensionsGroup,
  kind: "ArtifactGenerator",
  plural: "artifactgenerators",
  shortNames: ["ag"],
  categories: ["all", "fluxcd", "fluxcd-sources"],
  description: "ArtifactGenerator makes ExternalArtifacts from parts of other sources.",
  versions: ["v1beta1"],
  columns: [ageColumn, readyColumn, statusColumn],
  schemas: async () => {
    const { ArtifactGeneratorSpec, ArtifactGeneratorStatus } = await import("../artifact-generator.ts");
    return { spec: ArtifactGeneratorSpec, status: ArtifactGeneratorStatus };
  },
  statusManager: "source-watcher",
  eventSource: "source-watcher",
  isSource: false,
  pausedBy: { annotation: "source.extensions.fluxcd.io/reconcile", value: "disabled" },
  words: {
    parent: "artifact",
    one: "generator",
    many: "generators",
    aliases: [],
    plural: "ArtifactGenerators",
    revision: ["status", "observedSourcesDigest"],
    shown: ["suspended"],
    done: "generated from sources of",
  },
} as const satisfies KindDeclaration;
