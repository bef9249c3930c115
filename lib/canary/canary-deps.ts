import { z } from "zod";
import type { Clock } from "../core/ports/clock.ts";
import type { Cluster } from "../core/ports/cluster.ts";
import type { Log } from "../core/ports/log.ts";
import type { CanarySettings } from "./settings.ts";

/**
 * By which label one list finds target and primary: the value that the target has, and the primary with `-primary` behind it. `none`: the
 * list is forbidden, or finds too many other objects.
 */
export const SharedLabel = z.union([z.object({ label: z.string(), value: z.string() }), z.literal("none")]);
export type SharedLabel = z.infer<typeof SharedLabel>;

/**
 * What one step of a run passes on to the next, which then sends fewer requests. It decides nothing: without it the next one asks for all.
 */
export const StepMemory = z.object({
  /**
   * The Services are as they should be. A change of one of them wakes the Canary; that run passes nothing on, so the next step reads them
   * again.
   */
  hasServices: z.literal(true).exactOptional(),
  sharedLabel: SharedLabel.exactOptional(),
});
export type StepMemory = Readonly<z.infer<typeof StepMemory>>;

/** The outside services that a step's parts use. */
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
  /** What the previous step passed on. Absent if there is none, or if something may have changed since then. */
  readonly memory?: StepMemory | undefined;
}

/** Field manager of everything that is written for a Canary, as Flagger's. */
export const canaryManager = "flagger";
