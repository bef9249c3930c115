import { z } from "zod";
import { StepMemory } from "../../canary/step-memory.ts";
import type { Run } from "../../core/ports/run.ts";
import { Handled } from "./by-hand.ts";
import { Paced } from "./when-to-step.ts";

/** What one run of a Canary tells the next one. Without it the next one does the same, at most an interval later. */
const CarriedRun = Paced.extend({
  handled: Handled.exactOptional(),
  memory: StepMemory.exactOptional(),
  /** What an Event has said, and the next run need not say again. */
  told: z.string().exactOptional(),
  /** Whether the last step has ended a run, or the initialisation, with a target that has changed since: the next run waits for its interval. */
  hasNext: z.boolean().exactOptional(),
});
export type Carried = z.infer<typeof CarriedRun>;

export function carriedTo(run: Pick<Run, "carried">): Carried {
  return CarriedRun.safeParse(run.carried ?? {}).data ?? {};
}
