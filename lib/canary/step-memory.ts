import { z } from "zod";

/**
 * By which label one list finds target and primary: the value that the target has, and the primary with `-primary` behind it. `none`: the
 * list finds too many others, or is forbidden.
 */
export const SharedLabel = z.union([z.object({ label: z.string(), value: z.string() }), z.literal("none")]);
export type SharedLabel = z.infer<typeof SharedLabel>;

/** What a step of a run tells the next one, so that this asks for less. It decides nothing: without it the next one asks for all. */
export const StepMemory = z.object({
  /**
   * The Services are as they are to be. What changes one wakes the Canary, and the run that it wakes passes on nothing, so the step after that
   * looks at them again.
   */
  hasServices: z.literal(true).exactOptional(),
  sharedLabel: SharedLabel.exactOptional(),
});
export type StepMemory = Readonly<z.infer<typeof StepMemory>>;
