import type { VersionedRef } from "../../lib/core/object-ref.ts";
import { appName, namespace } from "./stage.ts";

/** What the example's artifact makes. */
export const managed = [
  { apiVersion: "v1", kind: "Service", name: "oddy-test-service" },
  { apiVersion: "apps/v1", kind: "Deployment", name: "oddy-test-deployment" },
  { apiVersion: "policy/v1", kind: "PodDisruptionBudget", name: "oddy-test-pdb" },
  { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", name: "oddy-test-hpa" },
] as const;

/** What the people in the story make themselves: all that has to be deleted for everything to be gone. */
export const handmade: readonly VersionedRef[] = [
  { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization", namespace, name: appName },
  { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository", namespace, name: appName },
  { group: "", version: "v1", kind: "ConfigMap", namespace, name: "not-ours" },
];
