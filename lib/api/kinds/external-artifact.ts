import { sourceGroup } from "../names.ts";
import { ageColumn, type KindDeclaration, readyColumn, statusColumn } from "./declaration.ts";

/** A source that other controllers write and that Sluice does not reconcile: Kustomizations read it (gate `ExternalArtifact`). */
export const declaredExternalArtifact = {
  group: sourceGroup,
  kind: "ExternalArtifact",
  plural: "externalartifacts",
  shortNames: ["ea"],
  categories: ["all", "fluxcd", "fluxcd-sources"],
  description: "ExternalArtifact names an artifact that another program makes and serves.",
  versions: ["v1"],
  columns: [ageColumn, readyColumn, statusColumn, { name: "Source", type: "string", jsonPath: ".spec.sourceRef.name" }],
  schemas: async () => {
    const { ExternalArtifactSpec, ExternalArtifactStatus } = await import("../external-artifact.ts");
    return { spec: ExternalArtifactSpec, status: ExternalArtifactStatus };
  },
  statusManager: "source-controller",
  eventSource: "source-controller",
  isSource: true,
  words: {
    one: "external",
    many: "external",
    aliases: [],
    plural: "ExternalArtifacts",
    revision: ["status", "artifact", "revision"],
    done: "published",
    shown: ["revision", "source"],
  },
} as const satisfies KindDeclaration;
