import { isJsonObject } from "../../core/json.ts";
import { sourceGroup } from "../names.ts";
import { ageColumn, type KindDeclaration, readyColumn, statusColumn } from "./declaration.ts";

export const declaredHelmRepository = {
  group: sourceGroup,
  kind: "HelmRepository",
  plural: "helmrepositories",
  shortNames: ["helmrepo"],
  categories: ["all", "fluxcd", "fluxcd-sources"],
  description: "HelmRepository keeps the latest index of a Helm repository at hand.",
  versions: ["v1", "v1beta2", "v1beta1"],
  columns: [{ name: "URL", type: "string", jsonPath: ".spec.url" }, ageColumn, readyColumn, statusColumn],
  schemas: async () => {
    const { HelmRepositorySpec, HelmRepositoryStatus } = await import("../helm-repository.ts");
    return { spec: HelmRepositorySpec, status: HelmRepositoryStatus };
  },
  statusManager: "source-controller",
  eventSource: "source-controller",
  isSource: true,
  words: {
    one: "helm",
    many: "helm",
    aliases: [],
    plural: "HelmRepositories",
    revision: ["status", "artifact", "revision"],
    done: "fetched",
  },
  // It only says where charts lie: reference 6.2.
  isStatic: (spec) => isJsonObject(spec) && spec["type"] === "oci",
  staticMessage: "Helm repository is Ready",
} as const satisfies KindDeclaration;
