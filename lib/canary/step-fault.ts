/** Ends a step: its text becomes a Warning event of the Canary, and the step is tried again at the next interval. Nothing counts as a failed check. */
export class StepFault extends Error {
  override readonly name = "StepFault";
}

/** Throws the fault that a check has found, if any. */
export function refuse(fault: StepFault | undefined): void {
  if (fault !== undefined) throw fault;
}
