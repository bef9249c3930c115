import type { CanaryPhase } from "../../api/canary.ts";
import { type Strategy, strategyOf } from "../../canary/analysis.ts";
import type { Measures } from "../../core/ports/metrics.ts";
import { type CanaryContext, skipsAnalysis } from "./canary-context.ts";

/** Flagger's words for its label `deployment_strategy`. */
const strategyWords: Readonly<Record<Strategy, string>> = {
  ab: "ab-testing",
  "blue-green": "blue-green",
  weighted: "canary",
};

/**
 * Records that a release has begun or ended, with Flagger's labels as properties: `status` is the value of its gauge
 * `flagger_canary_status` (reference canary 15). A gauge would have to be written at each interval, even for a Canary at rest.
 */
export function recordRelease(ctx: CanaryContext): void {
  const { canary, deps, run } = ctx;
  const { canaryWeight = 0, phase = "Initializing" } = ctx.status();
  if (phase === canary.status.phase) return;
  const told = measuresOf(phase);
  if (told === undefined) return;
  deps.metrics.record(run.key, told.measures, {
    status: told.status,
    target: canary.spec.targetRef.name,
    weight: String(canaryWeight),
    deployment_strategy: strategyWords[strategyOf(canary.analysis)],
    analysis_status: skipsAnalysis(canary) ? "skipped" : "completed",
  });
}

function measuresOf(phase: CanaryPhase): { readonly measures: Measures; readonly status: string } | undefined {
  switch (phase) {
    case "Progressing":
      return { measures: { CanaryReleasesBegun: 1 }, status: "0" };
    case "Succeeded":
      return { measures: { CanaryReleasesSucceeded: 1 }, status: "1" };
    case "Failed":
      return { measures: { CanaryReleasesFailed: 1 }, status: "2" };
    case "Initializing":
    case "Initialized":
    case "Waiting":
    case "WaitingPromotion":
    case "Promoting":
    case "Finalising":
    case "Terminating":
    case "Terminated":
      return undefined;
  }
}
