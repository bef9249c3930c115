import type { Canary } from "../../canary/canary.ts";
import type { StepDeps } from "../../canary/canary-deps.ts";
import type { Alerts, EventHooks, Hooks } from "../../canary/hooks/hooks.ts";
import type { MetricChecks } from "../../canary/metrics/checks.ts";
import type { Router, Services } from "../../canary/routes/router.ts";
import type { CanarySettings } from "../../canary/settings.ts";
import type { Scaler, TargetMetadata, Workload } from "../../canary/workload/workload.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { HomeCluster, TargetCluster } from "../../core/ports/home-and-target.ts";
import type { FlowDeps } from "../flow-deps.ts";

/** Makes the parts of one step, each for the given Canary. */
export interface CanaryParts {
  workload(canary: Canary, deps: StepDeps): Workload;
  /** Undefined for a Canary without `spec.autoscalerRef`. */
  scaler(canary: Canary, deps: StepDeps): Scaler | undefined;
  router(canary: Canary, target: TargetMetadata, deps: StepDeps): Router;
  services(canary: Canary, target: TargetMetadata, deps: StepDeps): Services;
  metrics(canary: Canary, deps: StepDeps): MetricChecks;
  hooks(canary: Canary, deps: StepDeps): Hooks;
  eventHooks(canary: Canary, deps: StepDeps): EventHooks;
  alerts(canary: Canary, deps: StepDeps): Alerts;
}

/** The outside services of the reconcile of a Canary. */
export interface CanaryDeps extends Pick<FlowDeps, "clock" | "home" | "log" | "metrics" | "subscriptions"> {
  readonly settings: CanarySettings;
  /**
   * The cluster with the rights of a step's parts: those of the service account in the setting `default-service-account` in the
   * namespace of the Canary, or Sluice's own. As for a Kustomization: else who may write Canaries would have more rights than that.
   */
  readonly clusterOf: (live: LiveObject) => HomeCluster | TargetCluster;
  readonly parts: CanaryParts;
}
