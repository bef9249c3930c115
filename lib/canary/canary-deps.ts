import { z } from "zod";
import type { Clock } from "../core/ports/clock.ts";
import type { Cluster } from "../core/ports/cluster.ts";
import type { Log } from "../core/ports/log.ts";
import type { CanarySettings } from "./settings.ts";

/**
 * By which label one list finds target and primary: the value that the target has, and the primary with `-primary` behind it. `none`: the
 * list finds too many others, or is forbidden.
 */
export const SharedLabel = z.union([z.object({ label: z.string(), value: z.string() }), z.literal("none")]);
export type SharedLabel = z.infer<typeof SharedLabel>;

/** What a step of a run tells the next one, so that this asks for less. It decides nothing: without it the next one asks for all. */
export const StepMemory = z.object({
  /**
   * The Services are as they should be. A change of one wakes the Canary, and the run that it wakes passes nothing on, so the next step
   * reads them again.
   */
  hasServices: z.literal(true).exactOptional(),
  sharedLabel: SharedLabel.exactOptional(),
});
export type StepMemory = Readonly<z.infer<typeof StepMemory>>;

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
