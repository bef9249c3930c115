import { kustomizeGroup } from "../names.ts";
import { ageColumn, type KindDeclaration, readyColumn, statusColumn } from "./declaration.ts";

export const declaredKustomization = {
  group: kustomizeGroup,
  kind: "Kustomization",
  plural: "kustomizations",
  shortNames: ["ks"],
  categories: ["all", "fluxcd", "fluxcd-appliers"],
  description: "Kustomization keeps a cluster as the artifact of a source says.",
  versions: ["v1", "v1beta2", "v1beta1"],
  columns: [ageColumn, readyColumn, statusColumn],
  schemas: async () => {
    const [{ KustomizationSpec }, { KustomizationStatus }] = await Promise.all([
      import("../kustomization-spec.ts"),
      import("../kustomization-status.ts"),
    ]);
    return { spec: KustomizationSpec, status: KustomizationStatus };
  },
  statusManager: "gotk-kustomize-controller",
  eventSource: "kustomize-controller",
  isSource: false,
  sourceRefs: [["spec", "sourceRef"]],
  words: {
    one: "kustomization",
    many: "kustomizations",
    aliases: ["ks"],
    plural: "Kustomizations",
    revision: ["status", "lastAppliedRevision"],
    done: "applied",
  },
} as const satisfies KindDeclaration;
