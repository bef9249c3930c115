import type { CanaryAnalysis, CanarySpec, CanaryStatus } from "../api/canary.ts";
import type { LiveObject } from "../core/manifest.ts";
import { totalWeight } from "./analysis.ts";
import type { CanarySettings } from "./settings.ts";

/** A Canary as one run reads it. */
export interface Canary {
  readonly live: LiveObject;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly spec: CanarySpec;
  /** `spec.analysis`. */
  readonly analysis: CanaryAnalysis;
  /** As the run has found it. */
  readonly status: CanaryStatus;
}

/** `name.namespace` of the Canary, as messages name it. */
export function canaryText({ name, namespace }: Pick<Canary, "name" | "namespace">): string {
  return `${name}.${namespace}`;
}

/** `name.namespace` of the target. */
export function targetText({ namespace, spec }: Pick<Canary, "namespace" | "spec">): string {
  return `${spec.targetRef.name}.${namespace}`;
}

/**
 * Whether all requests are on the canary, since the promotion has failed and the primary does not serve (reference canary 6.7). A run
 * that waits for its gate keeps the routes of the run before. Pure.
 */
export function isWithoutPrimary({ canaryWeight = 0, phase }: CanaryStatus): boolean {
  return (phase === "Failed" || phase === "Waiting") && canaryWeight === totalWeight;
}

/** Who routes its traffic: `spec.provider`, or the provider of the installation (reference canary 2.1). */
export function providerOf(
  { spec }: Pick<Canary, "spec">,
  { meshProvider }: Pick<CanarySettings, "meshProvider">,
): string {
  return spec.provider ?? meshProvider;
}

/** The name of the Service that serves production. */
export function apexName({ spec }: Pick<Canary, "spec">): string {
  const { name = "" } = spec.service;
  return name === "" ? spec.targetRef.name : name;
}

/** The primary's name for an object with this name. */
export function primaryName(name: string): string {
  return `${name}-primary`;
}

/** The name of the Service of the primary. */
export function primaryServiceName(canary: Pick<Canary, "spec">): string {
  return primaryName(apexName(canary));
}

/** The name of the Service of the canary. */
export function canaryServiceName(canary: Pick<Canary, "spec">): string {
  return `${apexName(canary)}-canary`;
}
