import type { StepDeps } from "../canary-deps.ts";
import { apexName, type Canary } from "../canary.ts";
import { told } from "../workload/step-objects.ts";
import type { TargetMetadata } from "../workload/workload.ts";
import { kept } from "./changed-object.ts";
import { type Texts, fluxAnnotations, isOwned } from "../ownership.ts";

/** Labels and annotations that a route is to have. */
export interface RouteMetadata {
  readonly labels: Texts;
  readonly annotations: Texts;
}

/**
 * With `service.apex`, a route has the labels and annotations of the apex Service, including those that the Canary does not manage
 * (reference canary 9). The Service is read once, and only where `unmanagedMetadata` asks for it.
 */
export function apexMetadata(canary: Canary, target: TargetMetadata, deps: StepDeps): () => Promise<RouteMetadata> {
  let known: Promise<RouteMetadata> | undefined;
  return () => {
    known ??= readMetadata(canary, target, deps);
    return known;
  };
}

async function readMetadata(
  canary: Canary,
  { label }: TargetMetadata,
  { cluster, signal }: StepDeps,
): Promise<RouteMetadata> {
  const { apex, unmanagedMetadata } = canary.spec.service;
  if (apex === undefined) return { labels: {}, annotations: fluxAnnotations };
  const name = apexName(canary);
  // A target that is a Service has no Services of the Canary.
  const hasServices = canary.spec.targetRef.kind !== "Service";
  const ref = { group: "", version: "v1", kind: "Service", namespace: canary.namespace, name };
  const service =
    unmanagedMetadata === undefined || !hasServices
      ? undefined
      : await told(cluster.get(ref, signal), (cause) => `service ${name} get query error: ${cause}`);
  const unmanaged = service !== undefined && isOwned(service, canary) ? service.metadata : undefined;
  return {
    labels: {
      ...apex.labels,
      ...(hasServices ? { [label]: name } : {}),
      ...kept(unmanaged?.labels, unmanagedMetadata?.labels),
    },
    annotations: {
      ...apex.annotations,
      ...fluxAnnotations,
      ...kept(unmanaged?.annotations, unmanagedMetadata?.annotations),
    },
  };
}
