import { helmGroup } from "../names.ts";
import { ageColumn, type KindDeclaration, readyColumn, statusColumn } from "./declaration.ts";

export const declaredHelmRelease = {
  group: helmGroup,
  kind: "HelmRelease",
  plural: "helmreleases",
  shortNames: ["hr"],
  categories: ["all", "fluxcd", "fluxcd-appliers"],
  description: "HelmRelease keeps a release of a chart of Helm as the spec says.",
  versions: ["v2", "v2beta2", "v2beta1"],
  columns: [ageColumn, readyColumn, statusColumn],
  schemas: async () => {
    const [{ HelmReleaseSpec }, { HelmReleaseStatus }] = await Promise.all([
      import("../helm-release-spec.ts"),
      import("../helm-release-status.ts"),
    ]);
    return { spec: HelmReleaseSpec, status: HelmReleaseStatus };
  },
  statusManager: "helm-controller",
  eventSource: "helm-controller",
  isSource: false,
  sourceRefs: [
    ["spec", "chartRef"],
    ["spec", "chart", "spec", "sourceRef"],
  ],
  words: {
    one: "helmrelease",
    many: "helmreleases",
    aliases: ["hr"],
    plural: "HelmReleases",
    revision: ["status", "history", "0", "chartVersion"],
    revisionElse: ["status", "lastAttemptedRevision"],
    done: "applied",
  },
} as const satisfies KindDeclaration;
