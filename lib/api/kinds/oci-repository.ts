import { sourceGroup } from "../names.ts";
import { ageColumn, type KindDeclaration, readyColumn, statusColumn } from "./declaration.ts";

export const declaredOciRepository = {
  group: sourceGroup,
  kind: "OCIRepository",
  plural: "ocirepositories",
  shortNames: ["ocirepo"],
  categories: ["all", "fluxcd", "fluxcd-sources"],
  description: "OCIRepository keeps the latest artifact of a repository in an OCI registry at hand.",
  versions: ["v1", "v1beta2"],
  columns: [{ name: "URL", type: "string", jsonPath: ".spec.url" }, readyColumn, statusColumn, ageColumn],
  schemas: async () => {
    const { OciRepositorySpec, OciRepositoryStatus } = await import("../oci-repository.ts");
    return { spec: OciRepositorySpec, status: OciRepositoryStatus };
  },
  // As recorded from Flux 2.9.
  statusManager: "source-controller",
  eventSource: "source-controller",
  isSource: true,
  words: {
    one: "oci",
    many: "oci",
    aliases: [],
    plural: "OCIRepositories",
    revision: ["status", "artifact", "revision"],
    done: "fetched",
  },
} as const satisfies KindDeclaration;
