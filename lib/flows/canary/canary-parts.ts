import type { Canary } from "../../canary/canary.ts";
import type { StepDeps } from "../../canary/canary-deps.ts";
import type { Alerts, EventHooks, Hooks } from "../../canary/hooks/hooks.ts";
import type { MetricChecks } from "../../canary/metrics/checks.ts";
import type { Router, Services } from "../../canary/routes/router.ts";
import type { CanarySettings } from "../../canary/settings.ts";
import type { Scaler, TargetMetadata, Workload } from "../../canary/workload/workload.ts";
import type { FlowDeps } from "../flow-deps.ts";

/** Makes the parts of one step, each for the Canary as it is given. */
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

/** What the reconcile of a Canary needs of the world. */
export interface CanaryDeps extends Pick<FlowDeps, "clock" | "home" | "log" | "metrics" | "subscriptions"> {
  readonly settings: CanarySettings;
  readonly parts: CanaryParts;
}
