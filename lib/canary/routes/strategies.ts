import type { Canary } from "../canary.ts";
import { lackingFault } from "../provider-fault.ts";
import { StepFault } from "../step-fault.ts";

/** Throws a {@link StepFault} with {@link lackingFault}. */
export function refuseLacking(canary: Canary, provider: string): void {
  const fault = lackingFault(canary, provider);
  if (fault !== undefined) throw new StepFault(fault);
}
