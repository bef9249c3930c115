import { z } from "zod";
import { StepMemory } from "../../canary/canary-deps.ts";
import type { Run } from "../../core/ports/run.ts";
import { Handled } from "./by-hand.ts";
import { Paced } from "./when-to-step.ts";

/**
 * What one run of a Canary passes on to the next, by the work item. It decides nothing but time, requests and what is said again: a
 * run without it does the same, at most an interval later.
 */
const CarriedRun = Paced.extend({
  handled: Handled.exactOptional(),
  memory: StepMemory.exactOptional(),
  /** Already reported by an Event, so the next run need not repeat it. */
  told: z.string().exactOptional(),
  /** Whether the target has changed after the last step ended a run or the initialisation: the next run then waits for its interval. */
  hasNext: z.boolean().exactOptional(),
  /** Whether an Event has said that the Canary is suspended. */
  isSuspended: z.literal(true).exactOptional(),
  /** The Canary that has the target, as an Event has said. */
  takenBy: z.string().exactOptional(),
  /** SHA-256 of the refused write that an Event has reported. */
  refusedWrite: z.string().exactOptional(),
  /** How often a target that is given back was not ready. */
  waits: z.int().min(0).exactOptional(),
});
export type Carried = z.infer<typeof CarriedRun>;

/** What the previous run passed on; empty if it is missing or unreadable. */
export function carriedTo(run: Pick<Run, "carried">): Carried {
  return CarriedRun.safeParse(run.carried ?? {}).data ?? {};
}
