import { KustomizationSpec } from "../lib/api/kustomization-spec.ts";
import { KustomizationStatus } from "../lib/api/kustomization-status.ts";
import { kustomizeGroup, sourceGroup } from "../lib/api/names.ts";
import { OciRepositoryStatus } from "../lib/api/oci-repository.ts";
import { OciRepositorySpec } from "../lib/api/oci-repository-spec.ts";
import type { Column, KindDefinition } from "./custom-resource-definition.ts";

const age: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };
const ready: Column = { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' };
const status: Column = { name: "Status", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].message' };
const url: Column = { name: "URL", type: "string", jsonPath: ".spec.url" };

/** The kinds that Sluice brings, with every API version that Flux has ever served of them. */
export const kinds: readonly KindDefinition[] = [
  {
    group: kustomizeGroup,
    kind: "Kustomization",
    plural: "kustomizations",
    shortNames: ["ks"],
    categories: ["all", "fluxcd", "fluxcd-appliers"],
    description: "Kustomization keeps a cluster as the artifact of a source says.",
    versions: ["v1", "v1beta2", "v1beta1"],
    columns: [age, ready, status],
    spec: KustomizationSpec,
    status: KustomizationStatus,
  },
  {
    group: sourceGroup,
    kind: "OCIRepository",
    plural: "ocirepositories",
    shortNames: ["ocirepo"],
    categories: ["all", "fluxcd", "fluxcd-sources"],
    description: "OCIRepository keeps the latest artifact of a repository in an OCI registry at hand.",
    versions: ["v1", "v1beta2"],
    columns: [url, ready, status, age],
    spec: OciRepositorySpec,
    status: OciRepositoryStatus,
  },
];
