/** Ends a step: its text becomes a Warning event of the Canary, and the step is tried again at the next interval. Nothing counts as a failed check. */
export class StepFault extends Error {
  override readonly name = "StepFault";
}
