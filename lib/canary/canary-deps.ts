import type { Clock } from "../core/ports/clock.ts";
import type { Cluster } from "../core/ports/cluster.ts";
import type { Log } from "../core/ports/log.ts";
import type { CanarySettings } from "./settings.ts";
import type { StepMemory } from "./step-memory.ts";

/** What the parts of one step need of the world. */
export interface StepDeps {
  /** The cluster with the rights that the Canary has. Takes writes only while the run holds its lease. */
  readonly cluster: Cluster;
  readonly settings: CanarySettings;
  readonly clock: Pick<Clock, "now">;
  /** Milliseconds that the webhooks and alerts of this step still have together. */
  readonly hooksLeftMs: () => number;
  /** For what Flagger only logs. */
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Of the step before. Absent where there is none, or where something may have changed since then. */
  readonly memory?: StepMemory | undefined;
}

/** Field manager of everything that is written for a Canary, as Flagger's. */
export const canaryManager = "flagger";
