import type { LiveObject } from "../../../lib/core/manifest.ts";

const digest = "6c959c51ccbb952e5fe4737563338a0aaf975675dcf812912cf09e5463181871";
export const revision = `v1@sha256:${digest}`;

export function condition(type: string, status: string, message: string, reason = "R") {
  return { type, status, message, reason, lastTransitionTime: "2026-11-21T12:00:00Z" };
}

export const readyStatus = {
  observedGeneration: 1,
  lastAppliedRevision: revision,
  conditions: [condition("Ready", "True", `Applied revision: ${revision}`)],
};

export function kustomization(
  name: string,
  spec = {},
  status: object | undefined = readyStatus,
  namespace = "flux-system",
): LiveObject {
  return {
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: { name, namespace, uid: `u-${name}`, generation: 1 },
    spec: { sourceRef: { kind: "OCIRepository", name: "app" }, ...spec },
    status,
  };
}

export function helmRelease(name: string, spec = {}, status = {}, namespace = "flux-system"): LiveObject {
  return {
    apiVersion: "helm.toolkit.fluxcd.io/v2",
    kind: "HelmRelease",
    metadata: { name, namespace, uid: `u-${name}`, generation: 1 },
    spec,
    status,
  };
}

export const source: LiveObject = {
  apiVersion: "source.toolkit.fluxcd.io/v1",
  kind: "OCIRepository",
  metadata: { name: "app", namespace: "flux-system", uid: "u-app", generation: 1 },
  spec: {},
  status: {
    observedGeneration: 1,
    artifact: { revision },
    conditions: [condition("Ready", "True", `stored artifact for digest '${revision}'`)],
  },
};

/** What Sluice would make of an object that was patched, with these conditions. */
export function handled(object: LiveObject, conditions?: readonly object[]): LiveObject & { readonly status: object } {
  const status: unknown = object["status"];
  const before = typeof status === "object" ? status : {};
  return {
    ...object,
    status: {
      ...before,
      observedGeneration: object.metadata.generation,
      lastHandledReconcileAt: object.metadata.annotations?.["reconcile.fluxcd.io/requestedAt"],
      ...(conditions === undefined ? {} : { conditions }),
    },
  };
}
